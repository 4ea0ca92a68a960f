/**
 * One claim: whether it carries the finalizer that keeps it while snapshots are cut from it. Decided from all its snapshots at
 * once, never from the last event, so that any number of them share one finalizer and a failed one does not pin the claim.
 */

import { annotations, finalizers } from "../../api/names.ts";
import { editByReplacing } from "../../api/patches.ts";
import { nothing, type Plan, settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { ClaimView, SnapshotView } from "./observe.ts";
import { phaseOf } from "./phase.ts";

const kind = "PersistentVolumeClaim";

export function planClaim({ claim, snapshots }: ClaimView): Plan {
  const isProtected = claim.metadata.finalizers?.includes(finalizers.claimAsSource) === true;
  const isNeeded = Iterator.from(snapshots).some(needsClaim);
  if (isProtected === isNeeded) return nothing;
  // A claim on its way out takes no new finalizers; the API server would refuse.
  if (isNeeded && claim.metadata.deletionTimestamp !== undefined) return nothing;
  const change = isNeeded
    ? { addFinalizers: [finalizers.claimAsSource] }
    : { removeFinalizers: [finalizers.claimAsSource] };
  return { actions: editByReplacing(kind, claim, change), next: settled };
}

/** A cut is about to be asked for, or may be under way. */
function needsClaim(view: SnapshotView): boolean {
  if (view.content !== undefined) return isBeingCut(view.content);
  const phase = phaseOf(view);
  return phase === "unprotected" || phase === "unbound";
}

/** After a final error nothing is being cut until the sidecar marks the content anew. */
function isBeingCut({ status, metadata }: VolumeSnapshotContent): boolean {
  if (status?.readyToUse === true) return false;
  return status?.error === undefined || metadata.annotations?.[annotations.beingCreated] === "yes";
}
