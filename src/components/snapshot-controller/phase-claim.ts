/**
 * Whether a claim carries the finalizer that keeps it while snapshots are taken of it.
 *
 *             needed                 added
 *      free ────────▶ unprotected ────────▶ protected
 *       ▲                                   ▲   │  ▲
 *       │ released                  renewed │   │  │ needed again
 *       │                          doubtful ┘   ▼  │
 *       └───────────────────────────────────── idle
 *
 * free:        no snapshot needs the claim, and it does not have our finalizer.
 * unprotected: a snapshot needs the claim, and it does not have our finalizer yet.
 * doubtful:    a snapshot needs the claim, and our finalizer is on, but a request that removes it may still arrive
 *              (kube/fence.ts). No content is created for the claim until another write has made that request fail.
 * protected:   a snapshot needs the claim, and our finalizer is on for certain.
 * idle:        no snapshot needs the claim, and our finalizer is on. It is removed soon.
 */
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { memberContentNameOf } from "../../rules/group-members.ts";
import { type ClaimView, hasFinalizer, type SnapshotFacts } from "./observe.ts";
import { phaseOf } from "./phase.ts";

export const claimPhases = ["free", "unprotected", "doubtful", "protected", "idle"] as const;
export type ClaimPhase = (typeof claimPhases)[number];

export function claimPhaseOf(view: ClaimView): ClaimPhase {
  const isProtected = hasFinalizer(view.facts.claim);
  if (!isNeeded(view)) return isProtected ? "idle" : "free";
  if (!isProtected) return "unprotected";
  return view.memory.protection === "certain" ? "protected" : "doubtful";
}

/** A snapshot of the claim is being taken, or about to be. */
export const isNeeded = (view: ClaimView): boolean =>
  view.memory.isCreationUnderWay || neededBy(view.facts) !== undefined;

/** The first snapshot for which the driver is about to be called, or a call may be under way. */
export const neededBy = ({ snapshots }: ClaimView["facts"]): SnapshotFacts | undefined =>
  Iterator.from(snapshots).find(needsClaim);

export function needsClaim(facts: SnapshotFacts): boolean {
  // The driver has taken the members of a group before they exist.
  if (memberContentNameOf(facts.snapshot) !== undefined) return false;
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
