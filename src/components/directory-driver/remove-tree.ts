/** Removal of trees of any depth that a stray process may still change. */
import { rm } from "node:fs/promises";
import { runProgram } from "../../node/program.ts";

const triesMax = 3;

/**
 * GNU rm takes each step from the handle of a folder and never through a link, and no path is too long for it; Node's own removal goes
 * by path. A folder that its owner may not write to keeps its files; without root we first have to take that right.
 */
export async function removeTree(path: string): Promise<void> {
  if (process.platform !== "linux") return rm(path, { recursive: true, force: true, maxRetries: triesMax });
  const remove = () => runProgram("rm", ["-rf", "--one-file-system", "--", path]);
  for (let tries = 1; tries < triesMax; tries++) {
    const failed = await remove().then(
      () => false,
      () => true,
    );
    if (!failed) return;
    if (process.getuid?.() !== 0)
      await runProgram("chmod", ["-R", "-f", "u+rwX", "--", path], { forgives: () => true });
  }
  await remove();
}
