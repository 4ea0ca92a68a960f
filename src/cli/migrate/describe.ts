/** A step, in words. */
import { crdNameOf } from "../../api/crds/index.ts";
import type { Step } from "./plan.ts";

export function describeStep(step: Step): string {
  const name = crdNameOf(step.kind);
  switch (step.step) {
    case "apply":
      return `apply the CRD of phase ${step.phase}${step.serveV1beta1 ? ", with v1beta1 served," : ""} to ${name}`;
    case "rewrite":
      return `rewrite the stored objects of ${name} in ${step.version}`;
    case "prune":
      return `set status.storedVersions of ${name} to ${step.version}`;
    case "finish":
      return `record on ${name} that the migration is finished`;
  }
}
