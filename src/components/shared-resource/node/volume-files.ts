/**
 * The files of one volume, in the shape that the kubelet's Secret volumes have:
 *
 *   ..2026_05_04.1a2b/token   the bytes
 *   ..data -> ..2026_05_04.1a2b
 *   token -> ..data/token
 *
 * A new set is written beside the old one, and shown by one rename of "..data". Emptying begins with its removal. So a reader sees the old
 * set, the new set or nothing. Nothing here follows a symbolic link, and each name is a single part of a path.
 *
 * Removing is total: what cannot be removed keeps nothing else, and is reported at the end. A file that is taken away loses its bytes
 * first, because a pod may have it open; a file that is replaced keeps them, because its reader must not read half of it.
 */
import { constants, type Dirent } from "node:fs";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  stat,
  symlink,
  unlink,
} from "node:fs/promises";
import { join } from "node:path";
import { errorCodeOf } from "../../../base/fs-errors.ts";
import { contentOf } from "./sources.ts";
import type { FileSet } from "./types.ts";

const dataLink = "..data";
const newLink = "..data_tmp";
/** How names begin of what has been moved away to be removed; a number follows, because a key can be as long as a name may be. */
const oldPrefix = "..old_";
const folderMode = 0o755;
const fileMode = 0o644;

/**
 * `label` makes the name of the folder unique; the old set is gone when this ends. A set that cannot be written leaves nothing, and none
 * does that may not be shown any more when it is ready: then the answer is false.
 */
export async function writeFiles(
  root: string,
  files: FileSet,
  label: string,
  mayShow: () => boolean = () => true,
): Promise<boolean> {
  const folder = `..${label}`;
  const { gid } = await stat(root);
  // What cannot be removed is reported in the end; it must not keep the new set out.
  await removeLeftovers(root).catch(() => undefined);
  try {
    await writeFolder(join(root, folder), files, gid);
    await symlink(folder, join(root, newLink));
    if (!mayShow()) {
      await removeLeftovers(root);
      return false;
    }
    await rename(join(root, newLink), join(root, dataLink));
  } catch (reason) {
    await removeLeftovers(root).catch(() => undefined);
    throw reason;
  }
  await showOnly(root, [...files.keys()], folder);
  return true;
}

/** Removes what an attempt has left that failed, or was killed: it takes the room that the next one needs. */
async function removeLeftovers(root: string): Promise<void> {
  const shown = await readlink(join(root, dataLink)).catch(() => undefined);
  const kept = shown === undefined ? [] : [dataLink, shown];
  await removeThose(root, (name) => name.startsWith("..") && !kept.includes(name), "replaced");
}

/** With the group of the volume, which is the fsGroup of the pod. */
async function writeFolder(path: string, files: FileSet, gid: number): Promise<void> {
  await mkdir(path, { mode: folderMode });
  await chmod(path, folderMode);
  const made = await stat(path);
  const isOther = made.gid !== gid;
  if (isOther) await chown(path, made.uid, gid);
  for (const [name, bytes] of files) {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(join(path, name), flags, fileMode);
    try {
      await file.writeFile(bytes);
      if (isOther) await file.chown(made.uid, gid);
      await file.chmod(fileMode);
    } finally {
      await file.close();
    }
  }
}

/** Makes the missing links, and removes all else. */
async function showOnly(root: string, names: readonly string[], folder: string): Promise<void> {
  const found = new Set(await readdir(root));
  const missing = new Set<string>();
  for (const name of names) if ((await readlink(join(root, name)).catch(() => "")) !== linkTo(name)) missing.add(name);
  if ([...missing].some((name) => found.has(name))) await removeThose(root, (name) => missing.has(name), "replaced");
  for (const name of missing) await symlink(linkTo(name), join(root, name));
  const kept = new Set([...names, dataLink, folder]);
  await removeThose(root, (name) => !kept.has(name), "replaced");
}

const linkTo = (name: string): string => `${dataLink}/${name}`;

/** Why files go: a new set has replaced them, or the pod may not read them any more. */
type Why = "replaced" | "revoked";

/** Folders first: the bytes are in them. The first failure is thrown when all else is gone. */
async function removeThose(root: string, isOne: (name: string) => boolean, why: Why): Promise<void> {
  const all = await readdir(root, { withFileTypes: true });
  const those = all.filter(({ name }) => isOne(name));
  const names = new Set(all.map(({ name }) => name));
  const failures: unknown[] = [];
  let count = 0;
  const freeName = (): string => {
    for (;;) {
      const name = `${oldPrefix}${count++}`;
      if (!names.has(name)) return name;
    }
  };
  for (const entry of those.filter((one) => one.isDirectory())) {
    const path = join(root, entry.name);
    // A reader that has resolved "..data" just before must find the whole folder or none. What cannot be moved is emptied where it is.
    const away = join(root, freeName());
    const isMoved = !entry.name.startsWith(oldPrefix) && (await rename(path, away).then(yes, no));
    await remove(isMoved ? away : path, entry, why, failures);
  }
  for (const entry of those.filter((one) => !one.isDirectory()))
    await remove(join(root, entry.name), entry, why, failures);
  if (failures.length > 0) throw failures[0];
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** A link itself, never what it leads to; a folder with all that is in it. */
async function remove(path: string, entry: Dirent, why: Why, failures: unknown[]): Promise<void> {
  const note = (reason: unknown): void => {
    if (errorCodeOf(reason) !== "ENOENT") failures.push(reason);
  };
  if (entry.isDirectory()) {
    const inner = await readdir(path, { withFileTypes: true }).catch((reason: unknown) => {
      note(reason);
      return [];
    });
    for (const one of inner) await remove(join(path, one.name), one, why, failures);
    return rmdir(path).catch(note);
  }
  if (why === "revoked" && entry.isFile()) await takeBytes(path).catch(note);
  return unlink(path).catch(note);
}

/** Whoever has the file open, or sees it elsewhere, reads nothing from now on. */
export async function takeBytes(path: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await file.truncate(0).finally(() => file.close());
}

/** The mount point stays. */
export async function wipeFiles(root: string): Promise<void> {
  await unlink(join(root, dataLink)).catch(() => undefined);
  await removeThose(root, yes, "revoked");
}

/**
 * What another process has left: the digest of the set that is shown, after links and leftovers of a swap that was cut short have been
 * put right. Undefined: nothing is shown, and everything has been removed.
 */
export async function adoptFiles(root: string): Promise<string | undefined> {
  const folder = await readlink(join(root, dataLink)).catch(() => "");
  const path = join(root, folder);
  const isOurs =
    /^\.\.[^/]+$/.test(folder) && folder !== dataLink && (await lstat(path).catch(() => undefined))?.isDirectory();
  if (isOurs !== true) {
    await wipeFiles(root);
    return undefined;
  }
  const files = new Map<string, Uint8Array>();
  for (const name of await readdir(path)) {
    const file = await open(join(path, name), constants.O_RDONLY | constants.O_NOFOLLOW);
    files.set(name, await file.readFile().finally(() => file.close()));
  }
  await showOnly(root, [...files.keys()], folder);
  return contentOf(files).digest;
}
