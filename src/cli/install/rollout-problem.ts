/** What is missing until a workload runs as it was applied. Pure. */
import type { JsonObject } from "../../base/json.ts";
import { at } from "./fields.ts";

/** As `kubectl rollout status` decides. */
export function rolloutProblem(object: JsonObject | undefined): string | undefined {
  if (object === undefined) return "does not exist";
  const number = (...path: readonly string[]): number => Number(at(object, ...path) ?? 0);
  if (number("status", "observedGeneration") < number("metadata", "generation"))
    return "not seen by its controller yet";
  const isDaemonSet = at(object, "kind") === "DaemonSet";
  const wanted = isDaemonSet ? number("status", "desiredNumberScheduled") : number("spec", "replicas");
  const [updated, available, total] = isDaemonSet
    ? [number("status", "updatedNumberScheduled"), number("status", "numberAvailable"), wanted]
    : [number("status", "updatedReplicas"), number("status", "availableReplicas"), number("status", "replicas")];
  if (updated < wanted) return `${updated} of ${wanted} pods are of this version`;
  if (available < wanted) return `${available} of ${wanted} pods are ready`;
  return total > wanted ? `${total - wanted} old pods have not ended` : undefined;
}
