/**
 * One claim: whether it carries the finalizer that keeps it while snapshots are taken of it. Decided from all its snapshots at
 * once, never from the last event, so that any number of them share one finalizer and a failed one does not pin the claim.
 *
 *   none ──add──▶ certain ──remove──▶ none        doubtful ──renew──▶ certain
 *
 * doubtful: the finalizer is on, but a request that removes it may still arrive (claim-protection.ts). No content is created for the
 * claim until another write has made that request fail.
 */

import { annotations, finalizers } from "../../api/names.ts";
import { editByReplacing, renewByReplacing } from "../../api/patches.ts";
import { type ClusterAction, nothing, type Plan, settled } from "../../api/plan.ts";
import type { PersistentVolumeClaim, VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { contentAsSeen } from "../../rules/evidence.ts";
import { type ClaimView, isRenewable, type SnapshotFacts } from "./observe.ts";
import { phaseOf } from "./phase.ts";

const kind = "PersistentVolumeClaim";
/** Snapshots often come one after the other, and each would add the finalizer that was removed after the one before. */
const lingerMs = 3_000;

const doing = (actions: readonly ClusterAction[]): Plan => ({ actions, next: settled });

export function planClaim(view: ClaimView): Plan {
  const { claim } = view.facts;
  const { protection, idleMs } = view.memory;
  if (isNeeded(view)) return protection === "none" ? doing(protect(claim)) : planRenewal(view);
  if (protection === "none") return nothing;
  const isDeleted = claim.metadata.deletionTimestamp !== undefined;
  // A user who deletes the claim does not wait for snapshots that may come.
  if (!isDeleted && idleMs < lingerMs) return { actions: [], next: { kind: "after", ms: lingerMs - idleMs } };
  return doing([...releaseEvidence(view), ...release(claim)]);
}

/** The API server accepts no new finalizers on a claim that is being deleted. */
const protect = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  claim.metadata.deletionTimestamp === undefined
    ? editByReplacing(kind, claim, { addFinalizers: [finalizers.claimAsSource] })
    : [];
const release = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  editByReplacing(kind, claim, { removeFinalizers: [finalizers.claimAsSource] });

/** Where nothing can be renewed, the removal is sent again: then its outcome is known, and the finalizer is added again. */
function planRenewal(view: ClaimView): Plan {
  const { claim } = view.facts;
  if (view.memory.protection === "certain" || !isAwaited(view)) return nothing;
  return doing(isRenewable(claim) ? renewByReplacing(kind, claim, finalizers.claimAsSource) : release(claim));
}

/** A snapshot of the claim is being taken, or about to be. */
export const isNeeded = ({ facts, memory }: ClaimView): boolean =>
  memory.isCreationUnderWay || Iterator.from(facts.snapshots).some(needsClaim);
/** A snapshot of the claim waits for the protection. */
const isAwaited = ({ facts }: ClaimView): boolean =>
  Iterator.from(facts.snapshots).some((snapshot) => snapshot.content === undefined && needsClaim(snapshot));

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

/** The driver is about to be called, or a call may be under way. */
function needsClaim(facts: SnapshotFacts): boolean {
  if (facts.content !== undefined) return isBeingTaken(facts.content, facts.snapshot);
  const phase = phaseOf(facts);
  return phase === "unprotected" || phase === "unbound";
}

/**
 * After a final error nothing is being taken until the sidecar annotates the content anew. Nobody wants a snapshot that is being
 * deleted: an error of any sort releases its claim, so that a driver without space does not keep its user from freeing some. A call
 * without an answer writes no error.
 */
function isBeingTaken({ status, metadata }: VolumeSnapshotContent, { metadata: snapshot }: VolumeSnapshot): boolean {
  if (status?.readyToUse === true) return false;
  if (status?.error === undefined) return true;
  return snapshot.deletionTimestamp === undefined && metadata.annotations?.[annotations.beingCreated] === "yes";
}
