/**
 * One claim: whether it carries the finalizer that keeps it while snapshots are taken of it. Decided from all its snapshots at
 * once, never from the last event, so that any number of them share one finalizer and a failed one does not pin the claim.
 *
 *   none ──add──▶ certain ──remove──▶ none        doubtful ──renew──▶ certain
 *
 * doubtful: the finalizer is on, but a request that removes it may still arrive (claim-protection.ts). No content is created for the
 * claim until another write has made that request fail.
 */

import { refOf } from "../../api/builders.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { editByReplacing } from "../../api/patches.ts";
import { type ClusterAction, nothing, type Plan, settled } from "../../api/plan.ts";
import type { PersistentVolumeClaim, VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { contentAsSeen } from "../../rules/evidence.ts";
import { type ClaimFacts, isRenewable, type Protection, type SnapshotView } from "./observe.ts";
import { phaseOf } from "./phase.ts";

export interface ClaimView {
  readonly claim: PersistentVolumeClaim;
  readonly protection: Protection;
  /** A snapshot is being taken of it, or about to be. */
  readonly isNeeded: boolean;
  /** A snapshot of it waits for the protection. */
  readonly isAwaited: boolean;
  /** What is to be confirmed with the server before the finalizer goes. */
  readonly evidence: readonly ClusterAction[];
  /** For how long it has been protected although nothing needs it. */
  readonly idleMs: Millis;
}

const kind = "PersistentVolumeClaim";
/** Snapshots often come one after the other, and each would put the finalizer back that the one before has taken off. */
const lingerMs = 3_000;

const doing = (actions: readonly ClusterAction[]): Plan => ({ actions, next: settled });

export function planClaim(view: ClaimView): Plan {
  const { claim, protection, isNeeded, evidence, idleMs } = view;
  if (isNeeded) return protection === "none" ? doing(protect(claim)) : planRenewal(view);
  if (protection === "none") return nothing;
  const isGoing = claim.metadata.deletionTimestamp !== undefined;
  // Whoever deletes the claim does not wait for snapshots that may come.
  if (!isGoing && idleMs < lingerMs) return { actions: [], next: { kind: "after", ms: lingerMs - idleMs } };
  return doing([...evidence, ...release(claim)]);
}

/** A claim on its way out takes no new finalizers; the API server would refuse. */
const protect = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  claim.metadata.deletionTimestamp === undefined
    ? editByReplacing(kind, claim, { addFinalizers: [finalizers.claimAsSource] })
    : [];
const release = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  editByReplacing(kind, claim, { removeFinalizers: [finalizers.claimAsSource] });

/** Where nothing can be renewed, the removal that was sent is completed: its outcome is known then, and the finalizer put on again. */
function planRenewal({ claim, protection, isAwaited }: ClaimView): Plan {
  if (protection === "certain" || !isAwaited) return nothing;
  return doing(isRenewable(claim) ? renew(claim) : release(claim));
}

/** The same finalizers in another order: a change of the claim that nobody minds, and a new version. */
function renew(claim: PersistentVolumeClaim): readonly ClusterAction[] {
  const own = finalizers.claimAsSource;
  const others = (claim.metadata.finalizers ?? []).filter((name) => name !== own);
  const isFirst = claim.metadata.finalizers?.[0] === own;
  const metadata = { ...claim.metadata, finalizers: isFirst ? [...others, own] : [own, ...others] };
  return [{ kind: "replace", ref: refOf(kind, claim), object: { ...claim, metadata } }];
}

export const isNeeded = ({ snapshots }: Pick<ClaimFacts, "snapshots">): boolean =>
  Iterator.from(snapshots).some(needsClaim);
/** Asked only where it matters: all snapshots of the claim may have to be looked at. */
export const isAwaited = ({ protection, snapshots }: Omit<ClaimFacts, "missingSnapshots">): boolean =>
  protection === "doubtful" && Iterator.from(snapshots).some((view) => view.content === undefined && needsClaim(view));

/**
 * A list from the past can leave out a snapshot that is being taken, or its content, and the claim would be released under it. Nothing
 * is asked in the usual case: a snapshot was seen to be deleted before it went, and one without a content has no finalizer of ours.
 */
export function releaseEvidence({ protection, snapshots, missingSnapshots }: ClaimFacts): readonly ClusterAction[] {
  if (protection === "none") return [];
  const missing = Iterator.from(missingSnapshots).map(({ namespace, name, cachedVersion: resourceVersion }) => {
    const ref = { kind: "VolumeSnapshot", namespace, name } as const;
    return { kind: "confirm", ref, resourceVersion } as const;
  });
  return [...missing, ...Iterator.from(snapshots).filter(mayHaveContent).flatMap(contentAsSeen)];
}

/** The finalizer is put on before a content is created. */
const mayHaveContent = ({ snapshot: { metadata }, content }: SnapshotView): boolean =>
  content === undefined &&
  metadata.deletionTimestamp === undefined &&
  metadata.finalizers?.includes(finalizers.snapshotAsSource) === true;

/** The driver is about to be called, or a call may be under way. */
function needsClaim(view: SnapshotView): boolean {
  if (view.content !== undefined) return isBeingTaken(view.content, view.snapshot);
  const phase = phaseOf(view);
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
