/** `snapkeep install --diff` and `--check`: a dry run of each object that is there, and how it differs. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { comparedIn, type DriftPlan, driftPlan } from "./drift-plan.ts";
import { withLivePolicy } from "./live-policy.ts";
import { readForDrift } from "./read.ts";
import type { Resources } from "./resources.ts";
import type { InstallPlan } from "./selection.ts";
import { withServices } from "./webhook-address.ts";

export async function findDrift(plan: InstallPlan, resources: Resources): Promise<DriftPlan> {
  const read = await readForDrift(plan, resources);
  const answers = new Map<ManifestObject, JsonObject>();
  for (const { object, stored } of comparedIn(read)) {
    // What has to be replaced first cannot be applied by a dry run.
    const asked = withServices(object, stored);
    answers.set(object, asked ?? (await resources.apply(withLivePolicy(object, stored), { dryRun: true })));
  }
  return driftPlan(read, answers);
}
