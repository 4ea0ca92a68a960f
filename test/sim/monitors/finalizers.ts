/** I-15 to I-19: no deletion is blocked too long, and none completes too early. */
import { annotations, finalizers, provisioning } from "../../../src/api/names.ts";
import type { KubeObject, VolumeSnapshot, VolumeSnapshotContent } from "../../../src/api/types.ts";
import type { Seen, Write } from "../record.ts";
import { claimProtection } from "./claims.ts";
import {
  contentIn,
  contentsIn,
  handleOf,
  has,
  isGoing,
  isOurs,
  isStored,
  type Monitor,
  snapshotIn,
  snapshotsIn,
  versionsKnown,
  wasNamedAsLeft,
  wasUnreadable,
} from "./monitor.ts";
import { hasToWaitFor, restoringFrom, waitingFor } from "./restoring.ts";

const own: readonly string[] = [
  ...Object.values(finalizers),
  provisioning.claimCloningFinalizer,
  provisioning.volumeFinalizer,
];
const holdsSnapshot = (snapshot: VolumeSnapshot): boolean =>
  has(snapshot, finalizers.snapshotAsSource) || has(snapshot, finalizers.snapshotBound);
const isBlockedSnapshot = (seen: Seen, snapshot: VolumeSnapshot): boolean => restoringFrom(seen, snapshot).length > 0;

/** Another driver's has no sidecar here, and what the user has forced is the user's. */
const isOutOfHand = (seen: Seen, content: VolumeSnapshotContent): boolean =>
  content.spec.driver !== seen.driver || seen.excused.has(content.metadata.uid);

/** One whose snapshot stays, stays. */
function isBlockedContent(seen: Seen, content: VolumeSnapshotContent): boolean {
  if (isOutOfHand(seen, content)) return true;
  const snapshot = snapshotsIn(seen).find((item) => isOf(content, item));
  return snapshot !== undefined && (!isGoing(snapshot) || isBlockedSnapshot(seen, snapshot));
}

/** Whether it is a content that names this very snapshot. */
const isOf = (content: KubeObject | undefined, { metadata }: VolumeSnapshot): boolean =>
  contentIn(content)?.spec.volumeSnapshotRef?.uid === metadata.uid;

const waitsForStranger = (seen: Seen, snapshot: VolumeSnapshot): boolean =>
  contentsIn(seen).some((content) => isOf(content, snapshot) && isOutOfHand(seen, content));

const nothingStuck: Monitor = {
  id: "I-15",
  promise: "an object with a deletionTimestamp is removed unless a documented reason blocks the deletion",
  counter: "stuck finalizers",
  atRest(seen) {
    const snapshot = snapshotsIn(seen).find(
      (item) => isGoing(item) && holdsSnapshot(item) && !isBlockedSnapshot(seen, item) && !waitsForStranger(seen, item),
    );
    if (snapshot !== undefined) return `VolumeSnapshot ${snapshot.metadata.name} is stuck in its deletion`;
    const content = contentsIn(seen).find(
      (item) => isGoing(item) && has(item, finalizers.contentBound) && !isBlockedContent(seen, item),
    );
    return content === undefined
      ? undefined
      : `VolumeSnapshotContent ${content.metadata.name} is stuck in its deletion`;
  },
};

const removed = (write: Write): readonly string[] =>
  (write.before?.metadata.finalizers ?? []).filter((name) => write.after?.metadata.finalizers?.includes(name) !== true);

const ownFinalizers: Monitor = {
  id: "I-16",
  promise: "components add and remove only their own finalizers, and remove them only when the reason is gone",
  onWrite(write, seen) {
    if (!isOurs(write) || write.kind === "Lease" || write.before === undefined) return undefined;
    const added = (write.after?.metadata.finalizers ?? []).filter(
      (name) => write.before?.metadata.finalizers?.includes(name) !== true,
    );
    const alien = [...removed(write), ...added].find((name) => !own.includes(name));
    if (alien !== undefined) return `${alien} of ${write.kind} ${write.key} is not ours to change`;
    if (seen.excused.has(write.before.metadata.uid)) return undefined;
    if (write.kind === "VolumeSnapshotContent") return contentLetGo(write, seen);
    return write.kind === "VolumeSnapshot" ? snapshotLetGo(write, seen) : undefined;
  },
};

const isRetained = ({ spec }: VolumeSnapshotContent): boolean => spec.deletionPolicy === "Retain";

function contentLetGo(write: Write, seen: Seen): string | undefined {
  const before = contentIn(write.before);
  if (before === undefined || !removed(write).includes(finalizers.contentBound)) return undefined;
  const handle = handleOf(before);
  const mayBeRetained = versionsKnown<VolumeSnapshotContent>(seen, before.metadata.uid, write).some(isRetained);
  if (handle === undefined || isLeftOnPurpose(seen, before, handle, write)) return undefined;
  return !mayBeRetained && isStored(seen, handle)
    ? `${write.key} was let go while ${handle} is in the storage`
    : undefined;
}

/** The driver never confirmed that it has it, nobody knows which driver it is, or nothing could be read of what it said of its deletion. */
const isLeftOnPurpose = (seen: Seen, content: VolumeSnapshotContent, handle: string, write: Write): boolean =>
  content.status?.snapshotHandle === undefined || !content.spec.driver
    ? wasNamedAsLeft(seen, handle)
    : wasUnreadable(seen, write, { method: "DeleteSnapshot", subject: handle });

function snapshotLetGo(write: Write, seen: Seen): string | undefined {
  const before = snapshotIn(write.before);
  if (before === undefined || !removed(write).includes(finalizers.snapshotAsSource)) return undefined;
  const content = contentsIn(seen).find((item) => isOf(item, before));
  if (content === undefined || seen.excused.has(content.metadata.uid)) return undefined;
  if (cameAfterTheQuestion(seen, before, content, write) || isDisowned(seen, before, content)) return undefined;
  const mayBeRetained = versionsKnown<VolumeSnapshotContent>(seen, content.metadata.uid, write).some(isRetained);
  return mayBeRetained ? undefined : `${write.key} was let go before its content ${content.metadata.name}`;
}

/** On loose CRDs its user has named another source, or a second one, before the status said to which content it is bound: nothing leads to it any more. */
const isDisowned = (
  seen: Seen,
  { metadata, spec, status }: VolumeSnapshot,
  { metadata: { name } }: VolumeSnapshotContent,
): boolean =>
  status?.boundVolumeSnapshotContentName !== name &&
  (spec.source?.volumeSnapshotContentName !== name || Boolean(spec.source.persistentVolumeClaimName)) &&
  seen.pastOf(metadata.uid).some(({ object }) => snapshotIn(object)?.spec.source?.volumeSnapshotContentName === name);

/**
 * No write covers two objects, so a late request can always make a content, or bind one, between the answer that the snapshot has
 * none and the write that lets it go. That much nobody can know; who did not ask, or asked when it was there, or has heard of it
 * since, could.
 */
function cameAfterTheQuestion(
  seen: Seen,
  snapshot: VolumeSnapshot,
  { metadata }: VolumeSnapshotContent,
  write: Write,
): boolean {
  const asked = seen.entries.findLastIndex(
    (entry) =>
      entry.type === "note" &&
      entry.what === "call" &&
      entry.process === write.process &&
      entry.atMs <= write.decidedMs &&
      entry.text.startsWith("GET ") &&
      entry.text.endsWith(`/volumesnapshotcontents/${metadata.name}`),
  );
  const came = seen.entries.findIndex(
    (entry) => entry.type === "write" && entry.after?.metadata.uid === metadata.uid && isOf(entry.after, snapshot),
  );
  const known = seen.knowledge.floorOf(write.process, metadata.uid, write.decidedMs) ?? 0;
  return asked !== -1 && asked < came && known < (seen.entries[came] as Write).version;
}

/** The write that gave the snapshot's content up to deletion: it cannot be taken back, whatever is heard of after it. */
export const parting = (seen: Seen, snapshot: VolumeSnapshot): Write | undefined =>
  seen.entries.find(
    (entry): entry is Write =>
      entry.type === "write" &&
      entry.actor === "snapshot-controller" &&
      entry.kind === "VolumeSnapshotContent" &&
      isOf(entry.after, snapshot) &&
      !isGivenUp(entry.before) &&
      isGivenUp(entry.after),
  );
const isGivenUp = (content: KubeObject | undefined): boolean =>
  content?.metadata.annotations?.[annotations.beingDeleted] === "yes";

/** Whoever took the content away by force has taken away what a claim could be restored from. */
const wasForcedAway = (seen: Seen, snapshot: VolumeSnapshot): boolean =>
  !contentsIn(seen).some((content) => isOf(content, snapshot)) &&
  seen
    .everyPast("VolumeSnapshotContent")
    .some(({ object }) => isOf(object, snapshot) && seen.excused.has(object.metadata.uid));

/** The user has removed the controller's finalizer by force, and the controller has not added it again. */
export function wasStripped(seen: Seen, { metadata: { uid } }: VolumeSnapshot): boolean {
  const last = seen.entries.findLast(
    (entry): entry is Write =>
      entry.type === "write" &&
      (entry.after ?? entry.before)?.metadata.uid === uid &&
      (isHeld(entry.after) || removed(entry).includes(finalizers.snapshotBound)),
  );
  return last?.actor === "user" && !isHeld(last.after);
}
const isHeld = (snapshot: KubeObject | undefined): boolean =>
  snapshot !== undefined && has(snapshot, finalizers.snapshotBound);

const sourceProtection: Monitor = {
  id: "I-18",
  promise: "a ready snapshot is not deleted while a claim that may refer to it is being restored from it",
  onWrite(write, seen) {
    if (write.kind !== "VolumeSnapshot" || !isOurs(write)) return undefined;
    const isLetGo = write.after === undefined || removed(write).includes(finalizers.snapshotBound);
    const before = snapshotIn(write.before);
    if (!isLetGo || before?.status?.readyToUse !== true) return undefined;
    // Once it waited, it waits until it is bound.
    const decision = parting(seen, before) ?? write;
    const reader = waitingFor(seen, before).find((claim) => hasToWaitFor(seen, decision, claim, before));
    return reader === undefined || wasForcedAway(seen, before) || wasStripped(seen, before)
      ? undefined
      : `${write.key} went while claim ${reader.metadata.name} is restored from it`;
  },
};

const noCircle: Monitor = {
  id: "I-19",
  promise: "no objects wait for each other in a cycle",
  counter: "stuck finalizers",
  atRest(seen) {
    const circle = snapshotsIn(seen).find((snapshot) => {
      const content = contentsIn(seen).find((item) => isOf(item, snapshot));
      const isUnready =
        content !== undefined &&
        !(content.status?.readyToUse === true && snapshot.status?.readyToUse === true) &&
        !waitsForStranger(seen, snapshot);
      return isGoing(snapshot) && holdsSnapshot(snapshot) && isUnready && restoringFrom(seen, snapshot).length > 0;
    });
    return circle === undefined
      ? undefined
      : `${circle.metadata.name} waits for a claim that waits for it to become ready`;
  },
};

export const finalizerMonitors: readonly Monitor[] = [
  nothingStuck,
  ownFinalizers,
  claimProtection,
  sourceProtection,
  noCircle,
];
