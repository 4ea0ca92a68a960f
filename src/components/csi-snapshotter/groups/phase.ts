/**
 * Where a group content is in its life, seen from the driver's side. Only facts decide.
 *
 *   untaken ──▶ pending ──▶ ready      unverified ──▶ ready      removable ──▶ (gone)
 *   foreign                                                          ▲ from any phase but foreign
 *
 * foreign:    of another driver, of a class of another driver, or without one clear source.
 * untaken:    no handle yet. CreateVolumeGroupSnapshot is repeated, with the same name and volumes, until the driver replies.
 * pending:    the group is taken but not ready, or not what was asked for. GetVolumeGroupSnapshot is repeated.
 * unverified: pre-provisioned, and nobody has checked that the group exists.
 * ready:      the group is ready.
 * removable:  the deletion is confirmed and no creation can be in flight. The driver deletes if the policy says so, then release.
 */
import { annotations } from "../../../api/names.ts";
import type { VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { groupContentSourceOf } from "../../../rules/group-members.ts";
import type { GroupFacts } from "./observe.ts";

export const groupPhases = ["foreign", "removable", "ready", "unverified", "pending", "untaken"] as const;
export type GroupPhase = (typeof groupPhases)[number];

export const isGroupBeingCreated = ({ metadata }: VolumeGroupSnapshotContent): boolean =>
  metadata.annotations?.[annotations.groupBeingCreated] === "yes";

export function groupPhaseOf(facts: GroupFacts): GroupPhase {
  const { content } = facts;
  if (!isOurs(facts)) return "foreign";
  if (isGroupRemovable(content)) return "removable";
  if (content.status?.readyToUse === true) return "ready";
  if (content.status?.volumeGroupSnapshotHandle) return "pending";
  return groupContentSourceOf(content).kind === "group" ? "unverified" : "untaken";
}

function isOurs({ content, groupClass, driver }: GroupFacts): boolean {
  const { spec } = content;
  return (
    (groupContentSourceOf(content).kind !== "unclear" || isGroupDeletionConfirmed(content)) &&
    spec.driver === driver &&
    (groupClass === undefined || groupClass.driver === driver)
  );
}

/** The snapshot-controller confirms a deletion by its annotation. A content that was never bound needs none. */
export const isGroupDeletionConfirmed = ({ metadata, spec }: VolumeGroupSnapshotContent): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (!spec.volumeGroupSnapshotRef?.uid || metadata.annotations?.[annotations.groupBeingDeleted] === "yes");

/** While a creation may be in flight a content stays: only the driver's reply tells what there is to delete. */
export const isGroupRemovable = (content: VolumeGroupSnapshotContent): boolean =>
  isGroupDeletionConfirmed(content) &&
  (!isGroupBeingCreated(content) || Boolean(content.status?.volumeGroupSnapshotHandle) || !isRepeatable(content));

const isRepeatable = (content: VolumeGroupSnapshotContent): boolean =>
  groupContentSourceOf(content).kind === "volumes" && Boolean(content.spec.volumeGroupSnapshotRef?.uid);
