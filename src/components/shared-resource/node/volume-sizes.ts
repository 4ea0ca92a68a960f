/** What is in a mounted volume, whoever has written it: after a restart its memory counts as before. */
import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../../node/mounts.ts";
import type { TmpfsUse } from "./plan-memory.ts";

/** Files in all folders of the volume, also in those that are left of a set that was cut short. Links come with their files. */
export async function sizesIn(root: string): Promise<readonly (readonly [name: string, bytes: number])[]> {
  const found: (readonly [string, number])[] = [];
  for (const folder of await readdir(root, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue;
    const path = join(root, folder.name);
    for (const name of await readdir(path)) {
      const file = await lstat(join(path, name)).catch(unlessMissing(undefined));
      if (file !== undefined) found.push([name, file.size]);
    }
  }
  return found;
}

/** TMPFS_MAGIC of the kernel. */
const tmpfsType = 0x01021994;

/** Files that are removed and open count too. Undefined: no tmpfs is there, or it has no bounds that it could be compared with. */
export async function tmpfsUse(root: string): Promise<TmpfsUse | undefined> {
  const found = await statfs(root).catch(() => undefined);
  if (found?.type !== tmpfsType || found.blocks === 0) return undefined;
  return { pages: found.blocks - found.bfree, inodes: found.files - found.ffree };
}
