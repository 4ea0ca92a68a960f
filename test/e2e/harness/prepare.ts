/** What happens before the first end-to-end test: leftovers are swept, and what this machine cannot run is said at once. */

import { sweep } from "./leftovers.ts";
import { isPipeline, podProblem, suitePackages } from "./packages.ts";
import { olderKubernetes, toolProblem } from "./tools.ts";

export interface Prepared {
  readonly files: readonly string[];
  /** Suites left out, in one line; a pipeline must not leave any out. */
  readonly skipped: number;
  readonly failed: number;
  readonly notice: string | undefined;
}

/** Alerts need no pods, but a program of the same packages. */
const isPodSuite = (file: string): boolean => /^test\/e2e\/(pods|alerts)\//.test(file);

export async function prepare(files: readonly string[]): Promise<Prepared> {
  const problem = await toolProblem();
  if (problem !== undefined) return { files: [], skipped: 0, failed: files.length, notice: problem };
  sweep();
  if (olderKubernetes !== undefined) return onlyComponents(files, olderKubernetes);
  return leftOut(files, files.some(isPodSuite) ? await podProblem(suitePackages) : undefined, isPipeline());
}

/** Which suites run when pods cannot, for the reason given. */
export function leftOut(files: readonly string[], podsWhy: string | undefined, pipeline: boolean): Prepared {
  const pods = files.filter(isPodSuite).length;
  if (podsWhy === undefined || pods === 0) return { files, skipped: 0, failed: 0, notice: undefined };
  const notice = `${pods} pod ${pods === 1 ? "suite" : "suites"} not run: ${podsWhy}`;
  const rest = files.filter((file) => !isPodSuite(file));
  return pipeline
    ? { files: rest, skipped: 0, failed: pods, notice: `${notice} (with CI set this is a failure)` }
    : { files: rest, skipped: pods, failed: 0, notice };
}

/** They need the kubelet, compare the embedded server with the Kubernetes whose behaviour it copies, or test this harness. */
const isOfNewest = (file: string): boolean =>
  isPodSuite(file) ||
  /^test\/e2e\/(differential\/|(kubectl|quantity|generate|agreement|fuzz|tools|runner|leftovers)\.test)/.test(file);

/** What runs against an older Kubernetes: the suites of our components. */
export function onlyComponents(files: readonly string[], version: string): Prepared {
  const rest = files.filter((file) => !isOfNewest(file));
  const skipped = files.length - rest.length;
  const notice = `Kubernetes ${version}: ${skipped} suites not run, which need pods or are about the newest version`;
  return { files: rest, skipped, failed: 0, notice: skipped === 0 ? undefined : notice };
}
