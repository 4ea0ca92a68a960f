/** Making folders and their parents. Node's own way of making parents never ends where the kernel makes no folders, as in /proc. */
import { mkdir, rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { unlessMissing } from "./mounts.ts";

/** No mistake when the folder is there already. Returns whether it was made. */
export async function makeFolder(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "EEXIST" && (await stat(path)).isDirectory()) return false;
    throw reason;
  }
}

/** Returns the folders that were made, parents first. */
export async function makeFolders(path: string, mode: number): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = path; at !== dirname(at) && !(await isThere(at)); at = dirname(at)) missing.unshift(at);
  if (missing.length === 0) await makeFolder(path, mode); // Says so when it is a file.
  const made: string[] = [];
  try {
    for (const folder of missing) if (await makeFolder(folder, mode)) made.push(folder);
  } catch (reason) {
    await removeEmpty(made);
    throw reason;
  }
  return made;
}

const isThere = (path: string): Promise<boolean> => stat(path).then(() => true, unlessMissing(false));

/** Those that hold nothing, in reverse order. */
export async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined);
}
