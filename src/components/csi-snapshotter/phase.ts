/**
 * Where a content is in its life, seen from the driver's side. Only facts decide.
 *
 *   untaken ──▶ pending ──▶ ready      unverified ──▶ ready      removable ──▶ (gone)
 *                                                                    ▲
 *   foreign                                                          └── from any phase but foreign
 *
 * foreign:    of another driver, of a class of another driver, without one clear source, or a member of a group that is not taken yet.
 * untaken:    no handle yet. CreateSnapshot is repeated, always with the same name, until the driver replies or refuses for good.
 * pending:    the snapshot is taken but not ready. CreateSnapshot is repeated on the timer of polls.
 * unverified: pre-provisioned, and nobody has checked that the handle exists.
 * ready:      the snapshot is ready. Only the being-created annotation may have to be removed.
 * removable:  the deletion is confirmed and no CreateSnapshot can be in flight, or none can be repeated for want of a volume. DeleteSnapshot if the policy says so, then release.
 */
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { contentSourceOf } from "../../rules/snapshot-source.ts";
import type { ContentFacts } from "./observe.ts";

export const contentPhases = ["foreign", "removable", "ready", "unverified", "pending", "untaken"] as const;
export type ContentPhase = (typeof contentPhases)[number];

export const isBeingCreated = ({ metadata }: VolumeSnapshotContent): boolean =>
  metadata.annotations?.[annotations.beingCreated] === "yes";

export function phaseOf(facts: ContentFacts): ContentPhase {
  const { content } = facts;
  if (!isOurs(facts)) return "foreign";
  if (isRemovable(content)) return "removable";
  if (content.status?.readyToUse === true) return "ready";
  if (content.spec.source?.snapshotHandle) return "unverified";
  if (content.metadata.annotations?.[annotations.groupSnapshotHandle] !== undefined) return "foreign";
  return content.status?.snapshotHandle ? "pending" : "untaken";
}

/** Contents of another driver are not ours, nor contents whose class belongs to another driver (CVE-2019-11255). */
export function isOurs({ content, snapshotClass, driver }: ContentFacts): boolean {
  // A content that names no source, or two, must be released once it may go, or it could never be deleted.
  return (
    (hasClearSource(content) || isDeletionConfirmed(content)) &&
    content.spec.driver === driver &&
    (snapshotClass === undefined || snapshotClass.driver === driver)
  );
}

/** The snapshot-controller confirms a deletion by the being-deleted annotation. A content that never had a snapshot needs none. */
export function isDeletionConfirmed(content: VolumeSnapshotContent): boolean {
  if (content.metadata.deletionTimestamp === undefined) return false;
  return isWithoutSnapshot(content) || content.metadata.annotations?.[annotations.beingDeleted] === "yes";
}

/** While CreateSnapshot may be in flight a content stays: only the driver's reply tells what there is to delete. */
export const isRemovable = (content: VolumeSnapshotContent): boolean =>
  isDeletionConfirmed(content) &&
  (isWithoutSnapshot(content) ||
    !isBeingCreated(content) ||
    content.status?.readyToUse === true ||
    !isRepeatable(content));

const hasClearSource = (content: VolumeSnapshotContent): boolean => contentSourceOf(content).kind !== "unclear";
/** Whether CreateSnapshot can be sent, or repeated. On loose CRDs a user can change source and uid after the first call. */
export const isRepeatable = (content: VolumeSnapshotContent): boolean =>
  namesVolume(content) && Boolean(content.spec.volumeSnapshotRef?.uid);
export const namesVolume = (content: VolumeSnapshotContent): boolean => contentSourceOf(content).kind === "volume";

/** Nor does one without a clear source: without a uid nothing was ever requested for it. */
const isWithoutSnapshot = (content: VolumeSnapshotContent): boolean =>
  !content.spec.volumeSnapshotRef?.uid && contentSourceOf(content).kind !== "volume";
