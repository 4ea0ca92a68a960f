/**
 * Which of its two possible sources a snapshot or a content names. An empty name is none,
 * though the CRD's rules take it for one: beside the other it is refused (SNAP-104), and what is stored so is served all the same.
 */
import { snapshotContentNameFor } from "../api/names.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../api/types.ts";
import { memberContentNameOf } from "./group-members.ts";
import { isSet } from "./values.ts";

/** Named once; after this nobody asks again which of two optional names is set. */
interface Unclear {
  readonly kind: "unclear";
  readonly count: 0 | 2;
}
export type SnapshotSource =
  | { readonly kind: "claim"; readonly name: string }
  | { readonly kind: "content"; readonly name: string }
  | Unclear;
/** A volume of which a snapshot is taken, or a snapshot that exists. */
type ContentSource =
  | { readonly kind: "volume"; readonly handle: string }
  | { readonly kind: "snapshot"; readonly handle: string }
  | Unclear;

export const snapshotSourceNames = ["persistentVolumeClaimName", "volumeSnapshotContentName"] as const;
export const contentSourceNames = ["volumeHandle", "snapshotHandle"] as const;

export function sourceOf({ spec }: Pick<VolumeSnapshot, "spec">): SnapshotSource {
  const { persistentVolumeClaimName: claim, volumeSnapshotContentName: content } = spec.source ?? {};
  if (isSet(claim) === isSet(content)) return unclear(claim);
  return isSet(claim) ? { kind: "claim", name: claim ?? "" } : { kind: "content", name: content ?? "" };
}

export function contentSourceOf({ spec }: Pick<VolumeSnapshotContent, "spec">): ContentSource {
  const { volumeHandle: volume, snapshotHandle: snapshot } = spec.source ?? {};
  if (isSet(volume) === isSet(snapshot)) return unclear(volume);
  return isSet(volume) ? { kind: "volume", handle: volume ?? "" } : { kind: "snapshot", handle: snapshot ?? "" };
}

const unclear = (one: unknown): Unclear => ({ kind: "unclear", count: isSet(one) ? 2 : 0 });

/**
 * The content that the snapshot names, or the one that is made for it. On loose CRDs a user can change the source of a bound
 * snapshot; then the status still says which content is to be deleted with it.
 */
export const contentNameOf = (snapshot: VolumeSnapshot): string => {
  const source = sourceOf(snapshot);
  const bound = snapshot.status?.boundVolumeSnapshotContentName;
  if (bound && (source.kind === "unclear" || snapshot.metadata.deletionTimestamp !== undefined)) return bound;
  if (source.kind === "content") return source.name;
  return memberContentNameOf(snapshot) ?? snapshotContentNameFor(snapshot.metadata.uid);
};
