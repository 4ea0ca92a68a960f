/**
 * One claim: whether it carries the finalizer that keeps it while snapshots are cut from it. Decided from all its snapshots at
 * once, never from the last event, so that any number of them share one finalizer and a failed one does not pin the claim.
 */

import { annotations, finalizers } from "../../api/names.ts";
import { editByReplacing } from "../../api/patches.ts";
import { nothing, type Plan, settled } from "../../api/plan.ts";
import type { PersistentVolumeClaim, VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { ClaimSight, SnapshotView } from "./observe.ts";
import { phaseOf } from "./phase.ts";

export interface ClaimView {
  readonly claim: PersistentVolumeClaim;
  /** Something is being cut from it, or about to be. */
  readonly isNeeded: boolean;
  /** For how long it has been protected although nothing needs it. */
  readonly idleMs: Millis;
}

const kind = "PersistentVolumeClaim";
/** Snapshots often come one after the other, and each would put the finalizer back that the one before has taken off. */
const lingerMs = 3_000;

export function planClaim({ claim, isNeeded, idleMs }: ClaimView): Plan {
  const isProtected = claim.metadata.finalizers?.includes(finalizers.claimAsSource) === true;
  const isGoing = claim.metadata.deletionTimestamp !== undefined;
  if (isProtected === isNeeded) return nothing;
  if (isNeeded) {
    // A claim on its way out takes no new finalizers; the API server would refuse.
    if (isGoing) return nothing;
    return { actions: editByReplacing(kind, claim, { addFinalizers: [finalizers.claimAsSource] }), next: settled };
  }
  // Whoever deletes the claim does not wait for snapshots that may come.
  if (!isGoing && idleMs < lingerMs) return { actions: [], next: { kind: "after", ms: lingerMs - idleMs } };
  return { actions: editByReplacing(kind, claim, { removeFinalizers: [finalizers.claimAsSource] }), next: settled };
}

export const isNeeded = ({ snapshots }: ClaimSight): boolean => Iterator.from(snapshots).some(needsClaim);

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
