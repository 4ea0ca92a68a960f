/**
 * The files of one volume, in the shape that the kubelet's Secret volumes have:
 *
 *   ..2026_05_04.1a2b/token   the bytes
 *   ..data -> ..2026_05_04.1a2b
 *   token -> ..data/token
 *
 * A new set is written beside the old one, and shown by one rename of "..data". Emptying begins with its removal. So a reader sees the old
 * set, the new set or nothing. Nothing here follows a symbolic link, and each name is a single part of a path.
 */
import { constants } from "node:fs";
import { chmod, chown, lstat, mkdir, open, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { contentOf } from "./sources.ts";
import type { FileSet } from "./types.ts";

const dataLink = "..data";
const newLink = "..data_tmp";
const oldPrefix = "..old_";
const folderMode = 0o755;
const fileMode = 0o644;

/** `label` makes the name of the folder unique; the old set is gone when this ends. */
export async function writeFiles(root: string, files: FileSet, label: string): Promise<void> {
  const folder = `..${label}`;
  const { gid } = await stat(root);
  await writeFolder(join(root, folder), files, gid);
  await remove(join(root, newLink));
  await symlink(folder, join(root, newLink));
  await rename(join(root, newLink), join(root, dataLink));
  await showOnly(root, [...files.keys()], folder);
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
  for (const name of names) {
    const path = join(root, name);
    if (found.has(name) && (await readlink(path).catch(() => "")) === linkTo(name)) continue;
    if (found.has(name)) await remove(path);
    await symlink(linkTo(name), path);
  }
  const kept = new Set([...names, dataLink, folder]);
  for (const name of found) if (!kept.has(name)) await removeAway(root, name);
}

/**
 * A reader that has resolved "..data" just before must find the whole folder or none: it gets another name first, and is emptied
 * under that.
 */
async function removeAway(root: string, name: string): Promise<void> {
  if (!name.startsWith(oldPrefix)) await rename(join(root, name), join(root, `${oldPrefix}${name}`));
  await remove(join(root, name.startsWith(oldPrefix) ? name : `${oldPrefix}${name}`));
}

const linkTo = (name: string): string => `${dataLink}/${name}`;

/** A link itself, never what it leads to. */
const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

/** The mount point stays. */
export async function wipeFiles(root: string): Promise<void> {
  await remove(join(root, dataLink));
  for (const name of await readdir(root)) await removeAway(root, name);
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
