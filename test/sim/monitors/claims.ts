/** I-17: the source claim of a snapshot that is being taken stays, and is released when nothing is being taken of it. */
import { finalizers } from "../../../src/api/names.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../../../src/api/types.ts";
import { limits } from "../../../src/base/limits.ts";
import type { Seen, Write } from "../record.ts";
import {
  claimsIn,
  contentIn,
  contentsIn,
  has,
  isBeingCreated,
  isGoing,
  isInvalid,
  type Monitor,
  snapshotsIn,
  versionsKnown,
} from "./monitor.ts";

const volumeOf = (seen: Seen, { spec }: PersistentVolumeClaim): string | undefined =>
  (seen.objects("PersistentVolume").get(spec?.volumeName ?? "") as unknown as PersistentVolume | undefined)?.spec?.csi
    ?.volumeHandle;

/** The snapshot that the content was created for, while it is wanted. */
const wantedSnapshotOf = (seen: Seen, { spec }: VolumeSnapshotContent): VolumeSnapshot | undefined =>
  snapshotsIn(seen).find((item) => item.metadata.uid === spec.volumeSnapshotRef?.uid && !isGoing(item));

const claimKeyOf = ({ metadata, spec }: VolumeSnapshot): string =>
  `${metadata.namespace}/${spec.source.persistentVolumeClaimName}`;

/** From its creation until it is ready, or the driver has refused for the first time: a refused one does not hold its claim. */
const isInFirstTake = (seen: Seen, { metadata, spec, status }: VolumeSnapshotContent): boolean =>
  Boolean(spec.source?.volumeHandle) &&
  status?.readyToUse !== true &&
  seen.pastOf(metadata.uid).every(({ object }) => contentIn(object)?.status?.error === undefined);

/** A content whose claim must be protected at this moment, and is not. */
function unprotected(seen: Seen, content: VolumeSnapshotContent): string | undefined {
  const snapshot = wantedSnapshotOf(seen, content);
  if (snapshot === undefined || !isInFirstTake(seen, content) || seen.excused.has(content.metadata.uid))
    return undefined;
  // Its user has taken away which claim it is.
  if (isInvalid("VolumeSnapshot", snapshot)) return undefined;
  const key = claimKeyOf(snapshot);
  const claim = seen.objects("PersistentVolumeClaim").get(key);
  return claim !== undefined && has(claim, finalizers.claimAsSource)
    ? undefined
    : `claim ${key} is not protected while ${content.metadata.name} is being taken`;
}

const isProtected = (claim: Write["before"]): boolean => claim !== undefined && has(claim, finalizers.claimAsSource);

/** Whether the sender of this write has heard of the content's snapshot. A content does not name its claim, only its snapshot does. */
const hasHeardOf = (seen: Seen, { process, decidedMs }: Write, { spec }: VolumeSnapshotContent): boolean =>
  seen.knowledge.floorOf(process, spec.volumeSnapshotRef?.uid ?? "", decidedMs) !== undefined;

/** The write that created the content. */
const creationOf = (seen: Seen, { metadata }: VolumeSnapshotContent): Write | undefined =>
  seen.entries.find((entry): entry is Write => entry.type === "write" && entry.after?.metadata.uid === metadata.uid);

/**
 * The finalizer must not go from under a content, so that it is on during every call that follows from the content's creation. No
 * write covers two objects: a content whose creation was under way when the removal was decided, by somebody else, cannot be known. One that was decided after the removal can: until the removal is
 * answered, or fenced by another write, the claim does not count as protected.
 */
function releasedUnder(write: Write, seen: Seen): string | undefined {
  for (const content of contentsIn(seen)) {
    const creation = creationOf(seen, content);
    const isLater = creation !== undefined && creation.decidedMs >= write.decidedMs;
    if (!isLater && !hasHeardOf(seen, write, content)) continue;
    if (!isLater && creation !== undefined && isOverdue(seen, creation)) continue;
    const found = unprotected(seen, content) ?? unprotectedAgain(write, seen, content);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** After a refusal nothing is being taken until the sidecar tries again: the annotation tells, to whom has heard of it. */
function unprotectedAgain(write: Write, seen: Seen, content: VolumeSnapshotContent): string | undefined {
  const snapshot = wantedSnapshotOf(seen, content);
  if (snapshot === undefined || claimKeyOf(snapshot) !== write.key || content.status?.readyToUse === true)
    return undefined;
  const known = versionsKnown<VolumeSnapshotContent>(seen, content.metadata.uid, write);
  return known.length > 0 && known.every((item) => isBeingCreated(item) && item.status?.readyToUse !== true)
    ? `claim ${write.key} was released while ${content.metadata.name} is being taken again`
    : undefined;
}

/**
 * A request that outlives its sender, or the time in which it should have been answered: it cannot be cancelled. docs/reliability.md
 * names it as not promised.
 */
export const isOverdue = ({ entries }: Seen, { process, atMs, decidedMs }: Write): boolean =>
  atMs - decidedMs >= limits.requestMsMax ||
  entries.some(
    (entry) => entry.type === "note" && entry.what === "crash" && entry.process === process && entry.atMs <= atMs,
  );

/** Nobody can tell any more of which claim it is. */
const isSpoiled = (seen: Seen, content: VolumeSnapshotContent): boolean => {
  const snapshot = wantedSnapshotOf(seen, content);
  return (
    isInvalid("VolumeSnapshotContent", content) || (snapshot !== undefined && isInvalid("VolumeSnapshot", snapshot))
  );
};

/** Looks at every version of the content: on loose CRDs a user can take its source away while the snapshot is being taken. */
const wasOfVolume = (seen: Seen, { metadata }: VolumeSnapshotContent, volume: string | undefined): boolean =>
  seen.pastOf(metadata.uid).some(({ object }) => contentIn(object)?.spec.source?.volumeHandle === volume);

export const claimProtection: Monitor = {
  id: "I-17",
  promise: "a claim is protected while a snapshot is being taken of it, and is released soon after",
  counter: "stuck finalizers",
  onWrite(write, seen) {
    if (write.kind === "VolumeSnapshotContent" && write.before === undefined && write.after !== undefined)
      return write.actor === "snapshot-controller" && !isOverdue(seen, write)
        ? unprotected(seen, contentIn(write.after) as VolumeSnapshotContent)
        : undefined;
    const isRelease = write.kind === "PersistentVolumeClaim" && isProtected(write.before) && !isProtected(write.after);
    return isRelease && write.actor === "snapshot-controller" ? releasedUnder(write, seen) : undefined;
  },
  atRest(seen) {
    for (const claim of claimsIn(seen)) {
      const volume = volumeOf(seen, claim);
      const unready = contentsIn(seen).filter(
        (content) => content.status?.readyToUse !== true && wasOfVolume(seen, content, volume),
      );
      const isHeld = has(claim, finalizers.claimAsSource);
      if (isHeld && unready.length === 0)
        return `claim ${claim.metadata.name} is protected, and no snapshot is being taken of it`;
      const taken = unready.find(
        (content) =>
          isBeingCreated(content) &&
          !isSpoiled(seen, content) &&
          content.spec.driver === seen.driver &&
          !seen.excused.has(content.spec.volumeSnapshotRef.uid ?? ""),
      );
      if (!isHeld && taken !== undefined && !isGoing(claim) && !isGoing(taken))
        return `claim ${claim.metadata.name} is not protected while ${taken.metadata.name} is being taken`;
    }
    return undefined;
  },
};
