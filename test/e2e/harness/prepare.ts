/** What happens before the first end-to-end test: leftovers are swept, and what this machine cannot run is said at once. */

import { sweep } from "./leftovers.ts";
import { isPipeline, podTrouble } from "./packages.ts";
import { toolTrouble } from "./tools.ts";

export interface Prepared {
  readonly files: readonly string[];
  /** Suites left out, in one line; a pipeline must not leave any out. */
  readonly skipped: number;
  readonly failed: number;
  readonly notice: string | undefined;
}

const isPodSuite = (file: string): boolean => file.startsWith("test/e2e/pods/");

export async function prepare(files: readonly string[]): Promise<Prepared> {
  const trouble = await toolTrouble();
  if (trouble !== undefined) return { files: [], skipped: 0, failed: files.length, notice: trouble };
  sweep();
  const pods = files.filter(isPodSuite).length;
  const podsWhy = pods === 0 ? undefined : await podTrouble();
  if (podsWhy === undefined) return { files, skipped: 0, failed: 0, notice: undefined };
  const notice = `${pods} pod ${pods === 1 ? "suite" : "suites"} not run: ${podsWhy}`;
  const rest = files.filter((file) => !isPodSuite(file));
  return isPipeline()
    ? { files: rest, skipped: 0, failed: pods, notice: `${notice} (with CI set this is a failure)` }
    : { files: rest, skipped: pods, failed: 0, notice };
}
