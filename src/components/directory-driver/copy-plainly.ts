/**
 * Copies by Node's own means, for systems without GNU cp. Modes, owners, times, symbolic and hard links are kept. Blocks that are
 * shared, holes and extended attributes are the business of the system's own call for one file: on macOS it keeps all three.
 */
import type { BigIntStats } from "node:fs";
import { constants } from "node:fs";
import {
  chmod,
  chown,
  copyFile,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  readdir,
  readlink,
  symlink,
  utimes,
} from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { syncToDisk } from "../../node/sync.ts";

interface Copying {
  readonly signal: AbortSignal | undefined;
  /** Where the first of several names of one file was copied to. */
  readonly firstNames: Map<bigint, string>;
  /** Files that went when their turn had come. */
  gone: number;
}

/** After the first, a pass finds what got another name just when its turn had come. */
const passesMax = 5;

/** Returns how many files went meanwhile. */
export async function copyPlainly(from: string, to: string, signal?: AbortSignal): Promise<number> {
  const copying: Copying = { signal, firstNames: new Map(), gone: 0 };
  for (let pass = 1; pass <= passesMax; pass++) {
    const before = copying.gone;
    await copyOne(from, to, copying);
    if (copying.gone === before) break;
  }
  return copying.gone;
}

async function copyOne(from: string, to: string, copying: Copying): Promise<void> {
  copying.signal?.throwIfAborted();
  const found = await lstat(from, { bigint: true });
  const copied = await lstat(to).catch(() => undefined);
  if (found.isDirectory() && (copied === undefined || copied.isDirectory()))
    return copyFolder(from, to, found, copying);
  if (copied !== undefined) return; // By an earlier pass. A folder would be written through a link that has its name.
  if (found.isSymbolicLink()) {
    await symlink(await readlink(from), to);
    if (isRoot()) await lchown(to, Number(found.uid), Number(found.gid));
    return lutimes(to, secondsOf(found.atimeNs), secondsOf(found.mtimeNs));
  }
  if (!found.isFile())
    throw new Fault("FailedPrecondition", `${from} is neither file, folder nor link, and only GNU cp can copy it`);
  const firstName = copying.firstNames.get(found.ino);
  if (firstName !== undefined) return link(firstName, to);
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  if (found.nlink > 1n) copying.firstNames.set(found.ino, to);
  await dress(to, found);
  await syncToDisk(to);
}

async function copyFolder(from: string, to: string, found: BigIntStats, copying: Copying): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of await readdir(from))
    await copyOne(join(from, name), join(to, name), copying).catch((reason: unknown) => {
      if (!hasGone(reason, join(from, name))) throw reason;
      copying.gone += 1;
    });
  await dress(to, found);
}

const hasGone = (reason: unknown, path: string): boolean =>
  reason instanceof Error && "code" in reason && reason.code === "ENOENT" && "path" in reason && reason.path === path;

/** Times last: giving a file to its owner changes them. */
async function dress(path: string, { mode, uid, gid, atimeNs, mtimeNs }: BigIntStats): Promise<void> {
  if (isRoot()) await chown(path, Number(uid), Number(gid));
  await chmod(path, Number(mode) & 0o7777);
  await utimes(path, secondsOf(atimeNs), secondsOf(mtimeNs));
}

const isRoot = (): boolean => process.getuid?.() === 0;
const secondsOf = (nanos: bigint): number => Number(nanos) / 1e9;
