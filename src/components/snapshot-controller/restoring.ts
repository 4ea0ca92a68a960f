/**
 * Which claims are being restored from a snapshot, and which of them block its deletion (docs/decisions/0013).
 *
 * A claim of the snapshot's namespace does so if it waits for its volume, and is at least as old as the deletion; a claim of another
 * namespace only if a grant lets it refer to the snapshot, and only while a CreateVolume call is stored. The provisioner puts its finalizer on the snapshot
 * before it stores a call, and no finalizer can be put on a snapshot that is being deleted, so its absence is certain. Without
 * this condition a guest could keep the owner's snapshot for ever, by a claim that can never get a volume.
 */
import { finalizers } from "../../api/names.ts";
import { keyOf, type PersistentVolumeClaim, type VolumeSnapshot } from "../../api/types.ts";
import { type Key, keyIn } from "../../base/brand.ts";
import { sourceOf } from "../../rules/data-source.ts";
import type { SnapshotCaches, SnapshotOptions } from "./observe.ts";

/** A claim that blocks the deletion of a snapshot. */
export interface RestoringClaim {
  readonly claim: PersistentVolumeClaim;
  /** Name of the ReferenceGrant, in the namespace of the snapshot, that lets a claim of another namespace do so. */
  readonly grant: string | undefined;
}

/** The snapshot that the claim names itself, of whichever namespace. */
export function restoredSnapshotKeys(claim: PersistentVolumeClaim): Key[] {
  const source = sourceOf(claim);
  return source.kind === "snapshot" ? [keyIn(source.namespace, source.name)] : [];
}

/** The same, and the one that the claim names by a link. */
export function allRestoredSnapshotKeys(
  { links }: Pick<SnapshotOptions, "links">,
  claim: PersistentVolumeClaim,
): Key[] {
  const link = linkKeyOf(claim);
  const target = link === undefined ? undefined : links?.targetOf(link);
  return target === undefined ? restoredSnapshotKeys(claim) : [target];
}

/** The VolumeSnapshotLink that the claim names. */
export function linkKeyOf(claim: PersistentVolumeClaim): Key | undefined {
  const source = sourceOf(claim);
  return source.kind === "link" ? keyIn(source.namespace, source.name) : undefined;
}

export function restoringFrom(
  stores: SnapshotCaches,
  options: SnapshotOptions,
  snapshot: VolumeSnapshot,
): readonly RestoringClaim[] {
  const blockers = (claims: readonly PersistentVolumeClaim[], referrer?: "VolumeSnapshotLink") =>
    claims.filter(isFirst(snapshot)).flatMap((claim) => {
      const blocking = blockingBy(options, snapshot, claim.metadata, referrer);
      return blocking === undefined ? [] : [{ claim, grant: blocking.grant }];
    });
  return [
    ...blockers(stores.PersistentVolumeClaim.by("restoresFrom", keyOf(snapshot))),
    ...blockers(linkedTo(stores, options, snapshot), "VolumeSnapshotLink"),
  ];
}

interface Place {
  readonly namespace?: string | undefined;
}

/**
 * Undefined: a claim of this namespace does not block the snapshot. Nor is its name shown to the snapshot's user then, or asked for.
 */
function blockingBy(
  { grantFor }: Pick<SnapshotOptions, "grantFor">,
  snapshot: VolumeSnapshot,
  { namespace = "" }: Place,
  referrer?: "VolumeSnapshotLink",
): Pick<RestoringClaim, "grant"> | undefined {
  if (namespace === snapshot.metadata.namespace) return { grant: undefined };
  const grant = mayBeRead(snapshot) ? grantFor?.(namespace, snapshot, referrer) : undefined;
  return grant === undefined ? undefined : { grant };
}

/** For a claim that is gone from the cache: which way it named the snapshot is not known, so either grant counts. */
export const mayBlock =
  (options: Pick<SnapshotOptions, "grantFor">, snapshot: VolumeSnapshot) =>
  (claim: Place): boolean =>
    blockingBy(options, snapshot, claim) !== undefined ||
    blockingBy(options, snapshot, claim, "VolumeSnapshotLink") !== undefined;

/** A CreateVolume call may be stored that reads from the snapshot. Whoever only watches it does not know of which claim. */
const mayBeRead = ({ metadata }: VolumeSnapshot): boolean =>
  metadata.finalizers?.includes(finalizers.snapshotRestoring) === true;

const linkedTo = (
  stores: SnapshotCaches,
  { links }: SnapshotOptions,
  snapshot: VolumeSnapshot,
): readonly PersistentVolumeClaim[] =>
  (links?.pointingAt(keyOf(snapshot)) ?? []).flatMap((link) => stores.PersistentVolumeClaim.by("restoresBy", link));

/**
 * A claim that was created after the snapshot's deletion does not block it: provisioners do not restore from a snapshot that is
 * being deleted, and the two would wait for each other. Times are whole seconds; in the same second the claim counts as earlier.
 */
const isFirst =
  ({ metadata: { deletionTimestamp } }: VolumeSnapshot) =>
  (claim: PersistentVolumeClaim): boolean =>
    waitsForVolume(claim) && !isLater(claim.metadata.creationTimestamp, deletionTimestamp);

/** Asked only when the snapshot is being deleted: nothing else depends on it. */
export function isRestoringUndecided(
  stores: SnapshotCaches,
  options: SnapshotOptions,
  snapshot: VolumeSnapshot,
): boolean {
  const { isUndecided } = options;
  if (isUndecided === undefined || snapshot.metadata.deletionTimestamp === undefined) return false;
  const isCandidate = (claim: PersistentVolumeClaim): boolean =>
    isFirst(snapshot)(claim) && (claim.metadata.namespace === snapshot.metadata.namespace || mayBeRead(snapshot));
  const named = isUndecided.grants()
    ? [...stores.PersistentVolumeClaim.by("restoresFrom", keyOf(snapshot)), ...linkedTo(stores, options, snapshot)]
    : [];
  if (named.some(isCandidate)) return true;
  return (
    isUndecided.links() &&
    [...stores.PersistentVolumeClaim.all()].some((claim) => linkKeyOf(claim) !== undefined && isCandidate(claim))
  );
}

/** Waits for its volume, and is not being deleted. */
export const waitsForVolume = ({ metadata, status }: PersistentVolumeClaim): boolean =>
  status?.phase === "Pending" && metadata.deletionTimestamp === undefined;
const isLater = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && Date.parse(one) > Date.parse(other);
