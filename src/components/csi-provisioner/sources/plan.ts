/** What to do about the finalizer on the source of restores and clones. phase.ts describes the phases. */
import { settled } from "../../../api/plan.ts";
import { doing, type ProvisionerPlan, resting } from "../plan-steps.ts";
import { type ProvisionerReason, reasonFor } from "../reasons.ts";
import type { SourceView } from "./observe.ts";
import { sourcePhaseOf } from "./phase.ts";

export function planSource(view: SourceView): ProvisionerPlan {
  const { source, object } = view.facts;
  const named = `${object.kind} ${source.key}`;
  switch (sourcePhaseOf(view)) {
    case "free":
      return resting(reasonFor("Settled", `${named} does not have our finalizer`));
    case "used":
      return resting(keptBy(view, named));
    case "unread":
      return doing(reasonFor("Writes", `${named} is read, to see whose it is`), settled, {
        kind: "readSnapshot",
        key: source.key,
      });
    case "foreign":
      return resting(reasonFor("NotOurs", `${named} is of another driver, whose provisioner takes its finalizer off`));
    case "unneeded":
      return doing(
        reasonFor("Released", `${named}: no call needs it any more, and our finalizer is taken off`),
        settled,
        {
          kind: "unprotectSource",
          source,
        },
      );
  }
}

/** Whoever deletes it waits for the volume that is made from it. */
function keptBy({ facts: { object } }: SourceView, named: string): ProvisionerReason {
  const { deletionTimestamp } = object.metadata;
  const says = `${named} is kept by our finalizer, because a volume is being made from it`;
  return deletionTimestamp === undefined
    ? reasonFor("Settled", says)
    : reasonFor("InUseByClaim", says, [], Date.parse(deletionTimestamp));
}
