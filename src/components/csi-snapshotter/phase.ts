/**
 * Where a content is, seen from the driver's side.
 *
 *   untaken ──▶ pending ──▶ ready      unverified ──▶ ready      removable ──▶ (gone)
 *
 * untaken:      no handle yet: the driver is asked to cut, again and again under the same name, until it says so or refuses for good.
 * pending:    cut, but not ready; asked about on a timer of its own.
 * unverified: pre-provisioned, and nobody has looked whether the handle exists.
 * removable:  deletion is asked for and nothing is under way: delete at the driver where the policy says so, then let go.
 */
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { contentSourceOf } from "../../rules/snapshot-source.ts";
import type { ContentView, CreateSent } from "./observe.ts";

export const contentPhases = ["foreign", "removable", "ready", "unverified", "pending", "untaken"] as const;
export type ContentPhase = (typeof contentPhases)[number];

export const isBeingCreated = ({ metadata }: VolumeSnapshotContent): boolean =>
  metadata.annotations?.[annotations.beingCreated] === "yes";

export function phaseOf(view: ContentView): ContentPhase {
  const { content } = view;
  if (!isOurs(view)) return "foreign";
  if (isRemovable(content, view.createSent)) return "removable";
  if (content.status?.readyToUse === true) return "ready";
  if (content.spec.source?.snapshotHandle) return "unverified";
  if (content.metadata.annotations?.[annotations.groupSnapshotHandle] !== undefined) return "foreign";
  return content.status?.snapshotHandle ? "pending" : "untaken";
}

/** Another driver's content is not ours to act on, nor one whose class is another driver's (CVE-2019-11255). */
function isOurs({ content, snapshotClass, facts }: ContentView): boolean {
  const source = contentSourceOf(content);
  // One without any source, bound by a controller that let it pass, could otherwise never be deleted.
  const isEmptyAndLeaving =
    source.kind === "unclear" && source.count === 0 && content.metadata.deletionTimestamp !== undefined;
  return (
    (source.kind !== "unclear" || isEmptyAndLeaving) &&
    content.spec.driver === facts.driver &&
    (snapshotClass === undefined || snapshotClass.driver === facts.driver)
  );
}

export const isUnasked = (asked: CreateSent): boolean => asked === "never" || asked === "let go";

/**
 * A content goes when the snapshot-controller has confirmed that its snapshot is going (the being-deleted mark), or when it never
 * had a snapshot. While a cut may be under way it stays: only the driver's answer tells what there is to delete.
 */
export function isRemovable(content: VolumeSnapshotContent, asked: CreateSent = "perhaps"): boolean {
  if (content.metadata.deletionTimestamp === undefined) return false;
  if (content.spec.source?.snapshotHandle && !content.spec.volumeSnapshotRef.uid) return true;
  if (isBeingCreated(content) && !isUnasked(asked) && content.status?.readyToUse !== true) return false;
  return content.metadata.annotations?.[annotations.beingDeleted] === "yes";
}
