/**
 * Copies held files and folders with GNU cp and tar, which find them under their numbers in /proc/self/fd and so cannot be led elsewhere.
 * Data, holes, shared blocks, modes, owners, times and extended attributes are their work.
 */
import type { BigIntStats } from "node:fs";
import { type FileHandle, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { firstInherited, runProgram } from "../../node/program.ts";
import { type BytePath, readable } from "./pins.ts";

export interface Found {
  /** Below the source; empty for the source itself. */
  readonly path: BytePath;
  readonly stats: BigIntStats;
  readonly handle: FileHandle;
  /** What a symbolic link points to. */
  readonly target?: Buffer | undefined;
}

/** Copies that wait to be moved to their places. */
export interface Batch {
  readonly copyOf: (found: Found) => string;
  remove(): Promise<void>;
}

export interface BatchOptions {
  /** An existing folder that is inaccessible to others. */
  readonly work: string;
  readonly signal: AbortSignal | undefined;
}

const numberOf = (index: number): number => index + firstInherited;
/** cp and tar name files by their numbers: '/proc/self/fd/7', '/…/files/7', 7/. */
const translator = (found: readonly Found[]) => (complaint: string) =>
  complaint.replace(/'\/[^']*\/(\d+)'|\b(\d+)\/\./g, (name: string, one: string, other: string) => {
    const file = found[Number(one ?? other) - firstInherited];
    return file === undefined ? name : `'${readable(file.path)}'`;
  });

export async function copyFiles(files: readonly Found[], { work, signal }: BatchOptions): Promise<Batch> {
  const folder = join(work, "files");
  if (files.length === 0) return batchIn(folder, files);
  await mkdir(folder, { mode: 0o700 });
  const numbers = files.map((_file, index) => `/proc/self/fd/${numberOf(index)}`);
  // The SELinux label that cp would find is that of a link in /proc: the copies get the one of their folder.
  const flags = ["-aL", "--no-preserve=context", "--reflink=auto", "--sparse=auto"];
  await runProgram("cp", [...flags, "-t", folder, "--", ...numbers], {
    signal,
    inherits: files.map(({ handle }) => handle.fd),
    translate: translator(files),
  });
  return batchIn(folder, files);
}

/**
 * Makes an empty folder with the attributes of each. By tar, because cp cannot copy a folder without entering it, and reads extended
 * attributes of a link in /proc instead of the folder's.
 */
export async function copyFolders(folders: readonly Found[], { work, signal }: BatchOptions): Promise<Batch> {
  const folder = join(work, "folders");
  if (folders.length === 0) return batchIn(folder, folders);
  await mkdir(folder, { mode: 0o700 });
  const archive = ["--file", join(folder, "archive"), "--xattrs", "--xattrs-include=*", "--acls", "--numeric-owner"];
  const numbers = folders.map((_folder, index) => `${numberOf(index)}/.`);
  await runProgram(
    "tar",
    ["--create", ...archive, "--no-recursion", "--format=posix", withoutDot, "-C", "/proc/self/fd", ...numbers],
    {
      signal,
      inherits: folders.map(({ handle }) => handle.fd),
      translate: translator(folders),
      forgives: (complaint) => complaint.endsWith(": file changed as we read it"), // A live folder may.
    },
  );
  await runProgram("tar", ["--extract", ...archive, "--preserve-permissions", "-C", folder], { signal });
  return batchIn(folder, folders);
}

/** tar sets no extended attributes on what is called "7/.". */
const withoutDot = "--transform=s,/[.]$,,";

const batchIn = (folder: string, copied: readonly Found[]): Batch => ({
  copyOf: (found) => join(folder, String(numberOf(copied.indexOf(found)))),
  remove: () => rm(folder, { recursive: true, force: true }),
});
