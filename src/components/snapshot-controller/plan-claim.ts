/**
 * One claim: whether it carries the finalizer that keeps it while snapshots are taken of it. Decided from all its snapshots at
 * once, never from the last event, so that any number of them share one finalizer and a failed one does not pin the claim.
 * phase-claim.ts shows the phases.
 */

import { finalizers } from "../../api/names.ts";
import { editByReplacing } from "../../api/patches.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { unreachable } from "../../base/brand.ts";
import { renewal } from "../../kube/fence.ts";
import { contentAsSeen } from "../../rules/evidence.ts";
import type { ClaimView, SnapshotFacts } from "./observe.ts";
import { claimPhaseOf, neededBy, needsClaim } from "./phase-claim.ts";
import { type ControllerPlan, doing, waiting } from "./plan-steps.ts";
import { inUse, why } from "./reasons.ts";

const kind = "PersistentVolumeClaim";
/** Snapshots often come one after the other, and each would add the finalizer that was removed after the one before. */
const lingerMs = 3_000;

export function planClaim(view: ClaimView): ControllerPlan {
  const phase = claimPhaseOf(view);
  switch (phase) {
    case "free":
      return doing(why("Settled", "no snapshot is being taken of the claim"));
    case "unprotected":
      return planProtection(view.facts.claim);
    case "doubtful":
      return planRenewal(view);
    case "protected":
      return doing(inUse(view.facts.claim, neededBy(view.facts)));
    case "idle":
      return planRelease(view);
    default:
      return unreachable(phase);
  }
}

/** The API server accepts no new finalizers on a claim that is being deleted. */
const planProtection = (claim: PersistentVolumeClaim): ControllerPlan =>
  claim.metadata.deletionTimestamp === undefined
    ? doing(
        why("Writes", "the claim gets our finalizer before a snapshot is taken of it"),
        editByReplacing(kind, claim, { addFinalizers: [finalizers.claimAsSource] }),
      )
    : doing(why("Settled", "the claim is being deleted, and no snapshot is taken of it any more"));

/** Where nothing can be renewed, the removal is sent again: then its outcome is known, and the finalizer is added again. */
function planRenewal({ facts }: ClaimView): ControllerPlan {
  const { claim } = facts;
  if (!isAwaited(facts)) return doing(inUse(claim, neededBy(facts)));
  return doing(
    why("Writes", "our finalizer is renewed: a request that removes it may be under way"),
    renewal(kind, claim, finalizers.claimAsSource),
  );
}

function planRelease(view: ClaimView): ControllerPlan {
  const { claim } = view.facts;
  const { idleMs } = view.memory;
  // A user who deletes the claim does not wait for snapshots that may come.
  if (claim.metadata.deletionTimestamp === undefined && idleMs < lingerMs)
    return waiting(why("Settled", "no snapshot needs the claim: our finalizer is removed soon"), lingerMs - idleMs);
  const reason = why("Released", "no snapshot needs the claim: our finalizer is removed");
  return doing(reason, releaseEvidence(view), release(claim));
}

const release = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  editByReplacing(kind, claim, { removeFinalizers: [finalizers.claimAsSource] });

/** A snapshot of the claim waits for the protection. */
const isAwaited = ({ snapshots }: ClaimView["facts"]): boolean =>
  Iterator.from(snapshots).some((snapshot) => snapshot.content === undefined && needsClaim(snapshot));

/**
 * An outdated list can miss a snapshot that is being taken, or its content, and the claim would be released too early. Usually
 * nothing is asked: a snapshot was seen to be deleted before it went, and one without a content does not have our finalizer.
 */
function releaseEvidence({ facts, memory }: ClaimView): readonly ClusterAction[] {
  const missing = Iterator.from(memory.missingSnapshots).map(({ namespace, name, cachedVersion: resourceVersion }) => {
    const ref = { kind: "VolumeSnapshot", namespace, name } as const;
    return { kind: "confirm", ref, resourceVersion } as const;
  });
  return [...missing, ...Iterator.from(facts.snapshots).filter(mayHaveContent).flatMap(contentAsSeen)];
}

/** The finalizer is added before a content is created. */
const mayHaveContent = ({ snapshot: { metadata }, content }: SnapshotFacts): boolean =>
  content === undefined &&
  metadata.deletionTimestamp === undefined &&
  metadata.finalizers?.includes(finalizers.snapshotAsSource) === true;
