/**
 * The copy of a tree while it is made. It is only ever added to: what it has under a name stays, so nothing is written through a link
 * that was copied before. It lies where nobody else can reach it; its own paths can be relied on.
 *
 * Each folder is filled under a number of its own. Last, the deepest first, folders get their attributes and move to their places:
 * each file that came later would change the times of its folder, moving the folder does not.
 */
import type { BigIntStats } from "node:fs";
import { chmod, lchown, link, lstat, lutimes, mkdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../node/program.ts";
import { type BatchOptions, copyFiles, copyFolders, type Found } from "./copy-batch.ts";
import { copyLimits } from "./limits.ts";
import { type BytePath, below, bytePath, bytesOfPath, splitLast } from "./pins.ts";

export interface TreeTarget {
  /** Only folders of the copy are entered in the source. */
  isFolder(path: BytePath): boolean;
  has(path: BytePath): Promise<boolean>;
  /** Folders before what they hold. The handle is closed once the file is copied. */
  add(found: Found): Promise<void>;
  /** Copies what is still waiting. */
  flush(): Promise<void>;
  /** Puts the tree together. */
  finish(): Promise<void>;
  /** Lets go of what is still waiting. */
  close(): Promise<void>;
}

interface Folder {
  readonly path: BytePath;
  readonly number: string;
  readonly mode: number;
}

export function createTreeTarget(to: string, options: BatchOptions): TreeTarget {
  const { work, signal } = options;
  const folders = new Map<BytePath, Folder>();
  const byDepth: Folder[][] = [];
  /** Where the first of several names of one file was copied to. */
  const firstNames = new Map<string, BytePath>();
  let waiting: Found[] = [];

  const filled = (number: string): string => join(work, `filled-${number}`);
  const attributesAt = (depth: number): string => join(work, `attributes-${depth}`);
  const place = (path: BytePath): Buffer => {
    if (path === "") return bytesOfPath(bytePath(to));
    const { folder, name } = splitLast(path);
    return bytesOfPath(below(bytePath(filled(folders.get(folder)?.number ?? "none")), name));
  };

  const note = ({ path, stats }: Found): void => {
    const folder = { path, number: String(folders.size), mode: Number(stats.mode) & 0o7777 };
    folders.set(path, folder);
    const depth = depthOf(path);
    byDepth[depth] = [...(byDepth[depth] ?? []), folder];
  };
  /** The attributes stay with an empty folder until the copy is complete. */
  const placeFolder = async (path: BytePath, attributes: string): Promise<void> => {
    const { number = "", mode = 0 } = folders.get(path) ?? {};
    if (isSealed(mode)) await chmod(attributes, 0o700);
    await mkdir(filled(number), { mode: 0o700 });
    await mkdir(attributesAt(depthOf(path)), { recursive: true, mode: 0o700 });
    await rename(attributes, join(attributesAt(depthOf(path)), number));
  };
  /** Files of which the copy has another name already. */
  const linksIn = (batch: readonly Found[]): ReadonlyMap<Found, BytePath> => {
    const links = new Map<Found, BytePath>();
    for (const found of batch.filter(({ stats }) => stats.isFile() && stats.nlink > 1n)) {
      const first = firstNames.get(identityOf(found.stats));
      if (first === undefined) firstNames.set(identityOf(found.stats), found.path);
      else links.set(found, first);
    }
    return links;
  };
  const copyBatch = async (batch: readonly Found[]): Promise<void> => {
    const links = linksIn(batch);
    const isFolder = ({ stats }: Found): boolean => stats.isDirectory();
    const folderCopies = await copyFolders(batch.filter(isFolder), options);
    const fileCopies = await copyFiles(
      batch.filter((found) => !(isFolder(found) || found.target || links.has(found))),
      options,
    );
    for (const found of batch) {
      const first = links.get(found);
      if (first !== undefined) await link(place(first), place(found.path));
      else if (found.target !== undefined) await placeLink(place(found.path), found.target, found.stats);
      else if (isFolder(found)) await placeFolder(found.path, folderCopies.copyOf(found));
      else await rename(fileCopies.copyOf(found), place(found.path));
    }
    await folderCopies.remove();
    await fileCopies.remove();
  };
  const flush = async (): Promise<void> => {
    const batch = waiting;
    try {
      await copyBatch(batch);
    } finally {
      waiting = [];
      for (const { handle } of batch) await handle.close();
    }
  };
  const moveLevel = async (depth: number): Promise<void> => {
    const level = byDepth[depth] ?? [];
    const dressing = join(work, `level-${depth}`);
    await mkdir(dressing, { mode: 0o700 });
    for (const { number } of level) await rename(filled(number), join(dressing, number));
    await runProgram("cp", ["-aT", "--no-preserve=context", "--", attributesAt(depth), dressing], { signal });
    for (const { path, number, mode } of level) {
      await rename(join(dressing, number), place(path));
      if (isSealed(mode)) await chmod(place(path), mode);
    }
  };

  return {
    isFolder: (path) => folders.has(path),
    has: (path) =>
      lstat(place(path)).then(
        () => true,
        () => false,
      ),
    async add(found) {
      if (found.stats.isDirectory()) note(found);
      waiting.push(found);
      if (waiting.length >= copyLimits.copyHandlesMax) await flush();
    },
    flush,
    async finish() {
      for (let depth = byDepth.length - 1; depth >= 0; depth--) await moveLevel(depth);
    },
    async close() {
      for (const { handle } of waiting) await handle.close();
    },
  };
}

const depthOf = (path: BytePath): number => (path === "" ? 0 : path.split("/").length);

/** An ordinary user cannot move such a folder; it gets its mode when it is in its place. */
const isSealed = (mode: number): boolean => (mode & 0o700) !== 0o700;

/** An inode number is reused once its file is deleted; the birth time distinguishes the two. */
const identityOf = ({ dev, ino, birthtimeNs }: BigIntStats): string => `${dev}:${ino}:${birthtimeNs}`;

async function placeLink(at: Buffer, target: Buffer, { uid, gid, atimeNs, mtimeNs }: BigIntStats): Promise<void> {
  await symlink(target, at);
  if (process.getuid?.() === 0) await lchown(at, Number(uid), Number(gid));
  await lutimes(at, Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9);
}
