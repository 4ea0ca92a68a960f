/** Waits until all that was applied is ready, and says what is not. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import type { World } from "../../base/world.ts";
import { at } from "./fields.ts";
import { readPods } from "./health.ts";
import { podProblems } from "./health-plan.ts";
import { isTrusted } from "./live-policy.ts";
import type { Resources } from "./resources.ts";
import { rolloutProblem } from "./rollout-problem.ts";
import { describe } from "./selection.ts";

export interface Waiting {
  readonly world: World;
  readonly signal: AbortSignal;
  readonly msMax: number;
  /** Called at each look, with what is missing. */
  progress(text: () => string): void;
}

const lookEveryMs = 500;

async function waitFor(
  resources: Resources,
  objects: readonly ManifestObject[],
  missing: (object: JsonObject | undefined) => string | undefined,
  { world, signal, msMax, progress }: Waiting,
  /** Why, in more words. */
  why: (object: JsonObject) => Promise<string> = async () => "",
): Promise<void> {
  const giveUpAt = world.elapsed() + msMax;
  for (;;) {
    const found: string[] = [];
    for (const object of objects) {
      const stored = await resources.read(object);
      const problem = missing(stored);
      if (problem !== undefined)
        found.push(`${describe(object)}: ${problem}${stored === undefined ? "" : await why(stored)}`);
    }
    if (found.length === 0) return;
    if (world.elapsed() > giveUpAt)
      throw new Fault(
        "DeadlineExceeded",
        `not ready after ${Math.round(msMax / 1000)} s: ${found.join("; ")}; kubectl describe shows why; run the command again to wait longer`,
      );
    progress(() => `waiting: ${found.join("; ")}`);
    await world.sleep(lookEveryMs, signal);
  }
}

export const waitUntilServed = (resources: Resources, crds: readonly ManifestObject[], waiting: Waiting) =>
  waitFor(resources, crds, (crd) => (hasCondition(crd, "Established") ? undefined : "not served yet"), waiting);

export const waitUntilGone = (resources: Resources, objects: readonly ManifestObject[], waiting: Waiting) =>
  waitFor(resources, objects, (object) => (object === undefined ? undefined : "is still being deleted"), waiting);

export const waitUntilTrusted = (resources: Resources, configurations: readonly ManifestObject[], waiting: Waiting) =>
  waitFor(resources, configurations, (stored) => (isTrusted(stored) ? undefined : "has no caBundle yet"), waiting);

export const waitUntilReady = (resources: Resources, objects: readonly ManifestObject[], waiting: Waiting) =>
  waitFor(
    resources,
    objects.filter(({ kind }) => ["Deployment", "StatefulSet", "DaemonSet"].includes(kind)),
    rolloutProblem,
    waiting,
    async (workload) =>
      podProblems((await readPods(workload, resources)) ?? [])
        .map(({ object, says }) => ` (${object}: ${says})`)
        .join(""),
  );

function hasCondition(object: JsonObject | undefined, type: string): boolean {
  const conditions = at(object, "status", "conditions");
  return (
    Array.isArray(conditions) && conditions.some((row) => at(row, "type") === type && at(row, "status") === "True")
  );
}
