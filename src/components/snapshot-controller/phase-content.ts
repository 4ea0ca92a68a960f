/**
 * Where a content is, as far as its snapshot's own plan does not handle it.
 *
 *   unbound ──▶ bound ──▶ leaving ──▶ (gone)
 *      │          │ ├──▶ kept ──▶ leaving      the snapshot was deleted, and the content stays
 *      │          │ └──▶ orphaned ──▶ leaving  the snapshot was removed by force
 *      └─ invalid ┘  (until the error is corrected, or the content is deleted)
 *                            driverless ──▶ (gone)
 *
 * invalid:    the content by itself breaks a rule, so that no sidecar could serve it.
 * unbound:    the content waits for its first VolumeSnapshot.
 * bound:      its VolumeSnapshot exists.
 * kept:       its VolumeSnapshot has given it up by the being-deleted annotation, and it is not being deleted.
 * orphaned:   its VolumeSnapshot is gone and has not given it up.
 * leaving:    the content is being deleted. Its VolumeSnapshot gives it up, and its sidecar removes it.
 * driverless: its VolumeSnapshot has given it up, it is being deleted, and without spec.driver no sidecar removes it.
 */
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { type ContentViolation, contentViolation } from "../../rules/binding-rules.ts";
import { contentSourceOf } from "../../rules/snapshot-source.ts";
import type { ContentFacts } from "./observe.ts";

export const contentPhases = ["invalid", "unbound", "bound", "kept", "orphaned", "leaving", "driverless"] as const;
export type ContentPhase = (typeof contentPhases)[number];

/** The phase, with what was found on the way to it. */
export type ContentState =
  | { readonly phase: Exclude<ContentPhase, "invalid"> }
  | { readonly phase: "invalid"; readonly violation: ContentViolation };

export function contentStateOf(facts: ContentFacts): ContentState {
  const { content, snapshot } = facts;
  const isLeaving = content.metadata.deletionTimestamp !== undefined;
  const violation = isLeaving ? undefined : contentViolation(content);
  if (violation !== undefined) return { phase: "invalid", violation };
  if (isLeaving && isGivenUp(content) && !content.spec.driver) return { phase: "driverless" };
  if (isOrphaned(facts)) return { phase: "orphaned" };
  if (isLeaving) return { phase: "leaving" };
  if (snapshot !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid) return { phase: "bound" };
  return { phase: isGivenUp(content) ? "kept" : "unbound" };
}

export const contentPhaseOf = (facts: ContentFacts): ContentPhase => contentStateOf(facts).phase;

export const isGivenUp = ({ metadata }: VolumeSnapshotContent): boolean =>
  metadata.annotations?.[annotations.beingDeleted] === "yes";

/** A content that waits for its first snapshot is not; nor one with the being-deleted annotation, which its snapshot has set. */
function isOrphaned(facts: ContentFacts): boolean {
  const { content, snapshot } = facts;
  if (isGivenUp(content)) return false;
  const { uid } = content.spec.volumeSnapshotRef ?? {};
  return uid ? snapshot?.metadata.uid !== uid : isStranded(facts);
}

/**
 * Without a uid a content waits for its first snapshot, if it names a snapshot that exists; the sidecar lets it go when it is deleted. One that
 * names a volume was exported and applied again, or its uid was removed: it never gets a snapshot, and no sidecar serves one
 * without a driver.
 */
const isStranded = ({ content, isNamed }: ContentFacts): boolean =>
  content.metadata.deletionTimestamp !== undefined &&
  !isNamed &&
  (contentSourceOf(content).kind === "volume" || !content.spec.driver);
