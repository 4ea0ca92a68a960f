/** Whether what is installed works: workloads ready, pods' own reasons where they are not, and leases held. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { isFault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { isHeld } from "./existing.ts";
import { isPodOf, podName, reasonOfPod } from "./pods.ts";
import type { Resources } from "./resources.ts";
import { rolloutProblem } from "./rollout-problem.ts";
import { describe, type InstallPlan, isWorkload, leasesOf } from "./selection.ts";

export interface Problem {
  readonly object: string;
  readonly says: string;
}

/** Of a workload that is not ready, each pod's own words. */
export async function podProblems(
  workload: JsonObject,
  resources: Pick<Resources, "list">,
): Promise<readonly Problem[]> {
  const namespace = String((workload as unknown as ManifestObject).metadata.namespace ?? "default");
  // Reasons are a help: without the right to read them, the rest is said all the same.
  const readable = (kind: string, fieldSelector?: string): Promise<readonly JsonObject[]> =>
    resources.list("v1", kind, { namespace, fieldSelector }).catch((reason: unknown) => {
      if (isFault(reason, "PermissionDenied")) return [];
      throw reason;
    });
  const problems: Problem[] = [];
  for (const pod of (await readable("Pod")).filter((one) => isPodOf(one, workload))) {
    const events = await readable("Event", `involvedObject.kind=Pod,involvedObject.name=${podName(pod)}`);
    const says = reasonOfPod(pod, events);
    if (says !== undefined) problems.push({ object: `Pod ${namespace}/${podName(pod)}`, says });
  }
  return problems;
}

export async function findProblems(
  plan: InstallPlan,
  resources: Pick<Resources, "read" | "list">,
  nowMs: number,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const object of plan.objects.filter(isWorkload)) {
    const stored = await resources.read(object);
    const says = stored && rolloutProblem(stored);
    if (says === undefined) continue;
    problems.push({ object: describe(object), says }, ...(await podProblems(stored as JsonObject, resources)));
  }
  for (const lease of leasesOf(plan)) {
    const stored = await resources.read(lease);
    if (stored === undefined || !isHeld(stored, nowMs))
      problems.push({ object: describe(lease), says: "nobody holds it, so none of its replicas works" });
  }
  return problems;
}
