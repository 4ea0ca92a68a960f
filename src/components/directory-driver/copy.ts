/** Faithful copies of files and trees, also of trees that change meanwhile, and their removal. */
import { lstat, rm } from "node:fs/promises";
import { Fault } from "../../base/fault.ts";
import { copyPlainly } from "./copy-plainly.ts";
import { runProgram } from "./program.ts";

/**
 * After the first, a pass copies what came or changed since the last one. It runs only when a file went or was replaced
 * just when its turn had come: it may have got another name, and must not be missing under both.
 */
const passesMax = 5;

/** GNU cp is on every Linux. Elsewhere a cp of the same name knows other flags. */
export const copyFaithfully = (from: string, to: string, signal?: AbortSignal): Promise<number> =>
  process.platform === "linux" ? copyWithCp(from, to, signal) : copyPlainly(from, to, signal);

/**
 * Copies a file or a tree with modes, owners, times, links and extended attributes, and sees it on the disk. Where the
 * file system can share blocks nothing is copied at all; elsewhere holes stay holes. Returns how many files went meanwhile.
 */
async function copyWithCp(from: string, to: string, signal?: AbortSignal): Promise<number> {
  const isTree = (await mustBeThere(from)).isDirectory();
  const copy = (...args: readonly string[]) =>
    runProgram("cp", ["-a", "--reflink=auto", "--sparse=auto", ...args], {
      signal,
      forgives: (complaint) => isTree && (hasGone(complaint) || wasReplaced(complaint)),
    });
  let gone = 0;
  let { forgiven } = await copy("--", from, to);
  for (let pass = 2; forgiven.length > 0 && pass <= passesMax; pass++) {
    gone += forgiven.filter(hasGone).length;
    forgiven = (await copy("--update", "--", `${from}/.`, to)).forgiven;
  }
  // What has gone is rightly missing. What was replaced is there under its name, and must be in the copy.
  const missing = forgiven.find(wasReplaced);
  if (missing !== undefined)
    throw new Fault("Aborted", `files change faster than they can be copied, try again: ${missing}`);
  await mustBeThere(from);
  await runProgram("sync", ["--file-system", "--", to], { signal });
  return gone;
}

const mustBeThere = (path: string) =>
  lstat(path).catch((reason: Error) => {
    throw new Fault("Internal", `the data cannot be read: ${reason.message}`);
  });

/** As GNU cp says it of a file it has found in a folder and does not find any more. Of one it cannot make it says "create". */
export const hasGone = (complaint: string): boolean =>
  /^cp: cannot (stat|open|access|read symbolic link) .*: No such file or directory$/.test(complaint);
export const wasReplaced = (complaint: string): boolean =>
  /^cp: skipping file .*, as it was replaced while being copied$/.test(complaint);

const removal = { recursive: true, force: true, maxRetries: 3 } as const;

/** A folder that its owner may not write to keeps its files; without root we first have to take that right. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, removal);
  } catch {
    await runProgram("chmod", ["-R", "-f", "u+rwX", "--", path], { forgives: () => true });
    await rm(path, removal);
  }
}
