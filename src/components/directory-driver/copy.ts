/** Faithful copies of files and trees, also of trees that change meanwhile. */
import { mkdir } from "node:fs/promises";
import { runProgram } from "../../node/program.ts";
import { copyPlainly } from "./copy-plainly.ts";
import { copyTree } from "./copy-tree.ts";
import { removeTree } from "./remove-tree.ts";

/** /proc and GNU cp are on every Linux. Elsewhere nothing can be mounted, so no pod can interfere. */
export const copyFaithfully = (from: string, to: string, signal?: AbortSignal): Promise<number> =>
  process.platform === "linux" ? copyOnLinux(from, to, signal) : copyPlainly(from, to, signal);

/**
 * Copies a file or a tree with modes, owners, times, links and extended attributes, and sees it on the disk. Where the
 * file system can share blocks nothing is copied at all; elsewhere holes stay holes. Returns how many files went meanwhile.
 * The folder of `to` must be inaccessible to others; on failure the caller removes its content.
 */
async function copyOnLinux(from: string, to: string, signal?: AbortSignal): Promise<number> {
  const work = `${to}.parts`;
  await mkdir(work, { mode: 0o700 });
  const gone = await copyTree(from, to, { work, signal });
  await removeTree(work);
  await runProgram("sync", ["--file-system", "--", to], { signal });
  return gone;
}
