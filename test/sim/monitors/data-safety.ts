/** I-1 to I-9: no snapshot is lost, leaked, taken twice or guessed. */
import { finalizers } from "../../../src/api/names.ts";
import type { KubeObject, VolumeSnapshotContent } from "../../../src/api/types.ts";
import { aliasOf, withoutAlias } from "../odd.ts";
import type { CsiSent, Seen, Write } from "../record.ts";
import {
  contentIn,
  contentsIn,
  contentsKnown,
  handleOf,
  has,
  isBeingCreated,
  isGoing,
  isInvalid,
  isMeantBy,
  isOurs,
  isStored,
  type Monitor,
  snapshotIn,
  snapshotsIn,
  uidInName,
  versionsKnown,
  wasNamedAsLeft,
  wasUnreadable,
} from "./monitor.ts";

const oneName: Monitor = {
  id: "I-1",
  promise: "the CreateSnapshot name is a function of the snapshot's uid, and is taken at most once",
  counter: "snapshots taken twice",
  onCall(call, seen) {
    if (call.method !== "CreateSnapshot") return undefined;
    const isMeant = isMeantBy(call);
    if (!seen.everyPast("VolumeSnapshotContent").some(({ object }) => isMeant(object as VolumeSnapshotContent)))
      return `${call.subject} is the name of no snapshot that ever had a content`;
    // A driver may forget the names of what it has handed over: to ask for it again is to risk a second one.
    const known = contentsKnown(seen, call, isMeant);
    return known.length > 0 && known.every(({ status }) => status?.readyToUse === true)
      ? `${call.subject} is asked for again, although its content is ready`
      : undefined;
  },
  onEnd: (_, seen) => takenTwice(seen),
  atRest: (seen) => takenTwice(seen),
};

const uidAnywhere = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Finds a uid that was taken twice, whatever name was asked for. The storage is asked, not those who asked it. */
function takenTwice(seen: Seen): string | undefined {
  const uids = new Map<string, number>();
  for (const { name } of seen.storage.values()) {
    const [uid = name] = uidAnywhere.exec(name) ?? [];
    const times = (uids.get(uid) ?? 0) + 1;
    uids.set(uid, times);
    if (times > 1 && times > 1 + contentsThatCameLate(seen, uid)) return `${uid} was cut twice`;
  }
  return undefined;
}

/**
 * Contents made again, after the one before was gone, by a request that had left before that. A driver that has forgotten the name
 * of what it handed over cuts for them anew, and nobody can keep such a request from arriving.
 */
function contentsThatCameLate(seen: Seen, uid: string): number {
  const writes = seen.entries.filter(
    (entry): entry is Write =>
      entry.type === "write" &&
      entry.kind === "VolumeSnapshotContent" &&
      contentIn(entry.after ?? entry.before)?.spec.volumeSnapshotRef?.uid === uid,
  );
  const removals = writes.filter(({ after }) => after === undefined);
  return writes.filter(
    ({ before, atMs, decidedMs }) =>
      before === undefined && removals.some((removal) => removal.atMs <= atMs && removal.atMs > decidedMs),
  ).length;
}

const intentFirst: Monitor = {
  id: "I-2",
  promise: "CreateSnapshot is called only after the being-created annotation is stored",
  onCall(call, seen) {
    if (call.method !== "CreateSnapshot") return undefined;
    const isMeant = isMeantBy(call);
    const known = contentsKnown(seen, call, isMeant);
    const [content] = known;
    if (content === undefined) {
      const pasts = seen.everyPast("VolumeSnapshotContent");
      const old = pasts.find(({ object }) => isMeant(object as VolumeSnapshotContent))?.object;
      if (old === undefined || seen.excused.has(old.metadata.uid)) return undefined; // The first is I-1's.
      return `${call.subject} is asked for, and its content is gone`;
    }
    if (seen.excused.has(content.metadata.uid)) return undefined;
    const lacking = known.map((item) => lacksOf(item, call));
    return lacking.some((lacks) => lacks.length === 0)
      ? undefined
      : `${call.subject} is asked for, and its content lacks ${lacking[0]?.join(", ")}`;
  },
};

const lacksOf = (content: VolumeSnapshotContent, call: CsiSent): readonly string[] =>
  [
    has(content, finalizers.contentBound) ? [] : ["the finalizer"],
    content.spec.source.volumeHandle === call.volume ? [] : ["the volume"],
    isBeingCreated(content) || content.status?.snapshotHandle ? [] : ["the mark"],
  ].flat();

/** The last call for the name, of any process, got a final reply, or there was none. */
function isCertain(seen: Seen, uid: string): boolean {
  const call = seen.calls.findLast(({ method, subject }) => method === "CreateSnapshot" && uidInName(subject) === uid);
  return call === undefined || seen.endOf(call)?.final === true;
}

const unknownStays: Monitor = {
  id: "I-3",
  promise:
    "after an unknown outcome the being-created annotation stays until a final reply or five undecodable ones, and no handle is guessed",
  onWrite(write, seen) {
    if (write.kind !== "VolumeSnapshotContent" || write.actor !== "csi-snapshotter") return undefined;
    const [before, after] = [contentIn(write.before), contentIn(write.after)];
    if (before === undefined) return undefined;
    const uid = before.spec.volumeSnapshotRef?.uid ?? "";
    const newHandle = before.status?.snapshotHandle === undefined ? after?.status?.snapshotHandle : undefined;
    if (newHandle !== undefined && before.spec.source.volumeHandle && !newHandle.startsWith(`handle-snapshot-${uid}`))
      return `${write.key} got handle ${newHandle}, which the driver never gave it`;
    const isUnmarked = isBeingCreated(before) && (after === undefined || !isBeingCreated(after));
    if (!isUnmarked || (after ?? before).status?.snapshotHandle !== undefined) return undefined;
    const subject = `snapshot-${uid}`;
    // Whoever took its source away has made the question impossible; what may be left is named.
    const isUnaskable =
      (!before.spec.source?.volumeHandle || isInvalid("VolumeSnapshotContent", before)) &&
      wasNamedAsLeft(seen, subject);
    const isGivenUp =
      isGoing(before) && (isUnaskable || wasUnreadable(seen, write, { method: "CreateSnapshot", subject }));
    return isCertain(seen, uid) || isGivenUp
      ? undefined
      : `the mark of ${write.key} went while the outcome was unknown`;
  },
};

const holders = (call: CsiSent, seen: Seen): readonly VolumeSnapshotContent[] =>
  contentsKnown(seen, call, isMeantBy(call));

const rightToDelete: Monitor = {
  id: "I-4",
  promise:
    "DeleteSnapshot is called only if the driver confirmed the snapshot, the content is being deleted and the user wants the data deleted",
  counter: "lost snapshots",
  onCall(call, seen) {
    if (call.method !== "DeleteSnapshot") return undefined;
    const known = holders(call, seen);
    const going = known.filter(
      (content) => isGoing(content) && (!isBeingCreated(content) || content.status?.readyToUse),
    );
    if (going.length === 0) return `${call.subject} is deleted at the driver, but no content of it is going`;
    if (going.every(({ status }) => !status?.snapshotHandle))
      return `${call.subject} is deleted at the driver, which never confirmed that it has it`;
    const wanted = snapshotsIn(seen).find(
      (snapshot) =>
        !isGoing(snapshot) && going.some((content) => content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid),
    );
    return wanted === undefined
      ? undefined
      : `${call.subject} is deleted while snapshot ${wanted.metadata.name} is wanted`;
  },
};

const retainIsSacred: Monitor = {
  id: "I-5",
  promise: "snapshots with Retain are never deleted at the driver",
  counter: "lost snapshots",
  onCall(call, seen) {
    if (call.method !== "DeleteSnapshot") return undefined;
    const known = holders(call, seen);
    const isKept = known.length > 0 && known.every(({ spec }) => spec.deletionPolicy === "Retain");
    return isKept ? `${call.subject} is deleted at the driver, although its policy is Retain` : undefined;
  },
};

const noLeak: Monitor = {
  id: "I-6",
  promise:
    "every snapshot in the storage is the handle of exactly one content, was released by Retain, or is named in an event as left there",
  counter: "leaked snapshots",
  atRest(seen) {
    for (const { id, name } of seen.storage.values()) {
      if (!name.startsWith("snapshot-")) continue;
      const contents = contentsIn(seen).filter((content) => withoutAlias(handleOf(content) ?? "") === id);
      if (contents.length > 1) return `${id} is the handle of ${contents.length} contents`;
      if (contents.length === 0 && !isAccountedFor(seen, name) && !isNamed(seen, id, name))
        return `${id} has no content: it is leaked`;
    }
    return undefined;
  },
};

/** An event names it by one of its ids or by its name, and says that it may be left because nothing could be read of the driver. */
const isNamed = (seen: Seen, id: string, name: string): boolean =>
  [id, aliasOf(id), name].some((subject) => wasNamedAsLeft(seen, subject));

/** Some content of it, of whichever incarnation, is still at work on it or went with Retain. */
function isAccountedFor(seen: Seen, name: string): boolean {
  const lastOf = new Map<string, VolumeSnapshotContent>();
  for (const { object } of seen.everyPast("VolumeSnapshotContent")) {
    const content = object as VolumeSnapshotContent;
    if (content.spec.volumeSnapshotRef?.uid === uidInName(name)) lastOf.set(content.metadata.uid, content);
  }
  return [...lastOf.values()].some((content) => {
    const isThere = contentsIn(seen).some(({ metadata }) => metadata.uid === content.metadata.uid);
    if (isThere) return isBeingCreated(content);
    return content.spec.deletionPolicy === "Retain" || seen.excused.has(content.metadata.uid);
  });
}

const nothingLost: Monitor = {
  id: "lost",
  promise: "the snapshot of every remaining content is in the storage",
  counter: "lost snapshots",
  atRest(seen) {
    const lost = contentsIn(seen).find(
      (content) =>
        content.spec.driver === seen.driver &&
        !isGoing(content) &&
        content.status?.snapshotHandle !== undefined &&
        !isStored(seen, content.status.snapshotHandle),
    );
    return lost === undefined
      ? undefined
      : `${lost.status?.snapshotHandle} of ${lost.metadata.name} is not in the storage`;
  },
};

const writeOnce: Monitor = {
  id: "I-7",
  promise: "handle and creation time are written once",
  onWrite(write) {
    if (!isOurs(write) || write.before === undefined || write.after === undefined) return undefined;
    const before = (write.before as { status?: Record<string, unknown> }).status ?? {};
    const after = (write.after as { status?: Record<string, unknown> }).status ?? {};
    const changed = ["snapshotHandle", "creationTime"].find(
      (field) => before[field] !== undefined && String(before[field]) !== String(after[field]),
    );
    return changed === undefined ? undefined : `${changed} of ${write.kind} ${write.key} changed`;
  },
};

const readyStays: Monitor = {
  id: "I-8",
  promise:
    "a ready snapshot stays ready unless its content is lost or one of them is made invalid, and then its status says so",
  onWrite(write, seen) {
    if (write.kind !== "VolumeSnapshot" || !isOurs(write)) return undefined;
    const [before, after] = [snapshotIn(write.before), snapshotIn(write.after)];
    if (before?.status?.readyToUse !== true || after === undefined || after.status?.readyToUse === true)
      return undefined;
    const content = seen.objects("VolumeSnapshotContent").get(before.status.boundVolumeSnapshotContentName ?? "");
    const isSaid = after.status?.error !== undefined;
    return isSaid && (content === undefined || wasKnownInvalid(seen, write, before, contentIn(content)))
      ? undefined
      : `${write.key} is no longer ready`;
  },
};

/** Whether what its sender knew of the snapshot or of its content may break a strict rule: on loose CRDs users can do that. */
const wasKnownInvalid = (seen: Seen, write: Write, snapshot: KubeObject, content: KubeObject | undefined): boolean =>
  versionsKnown(seen, snapshot.metadata.uid, write).some((known) => isInvalid("VolumeSnapshot", known)) ||
  (content !== undefined &&
    versionsKnown(seen, content.metadata.uid, write).some((known) => isInvalid("VolumeSnapshotContent", known)));

const readyIsBacked: Monitor = {
  id: "I-9",
  promise:
    "a snapshot is shown ready when its content is ready, has a handle and no being-created annotation, and both refer to each other",
  onWrite(write, seen) {
    if (write.kind !== "VolumeSnapshot" || !isOurs(write)) return undefined;
    const [before, after] = [snapshotIn(write.before), snapshotIn(write.after)];
    if (after?.status?.readyToUse !== true || before?.status?.readyToUse === true) return undefined;
    const { boundVolumeSnapshotContentName: bound } = after.status;
    const isBacked = contentsKnown(seen, write, ({ metadata }) => metadata.name === bound).some(
      (content) =>
        content.status?.readyToUse === true &&
        handleOf(content) !== undefined &&
        !isBeingCreated(content) &&
        content.spec.volumeSnapshotRef.uid === after.metadata.uid,
    );
    return isBacked ? undefined : `${write.key} became ready without a ready content that rests`;
  },
};

export const dataSafety: readonly Monitor[] = [
  oneName,
  intentFirst,
  unknownStays,
  rightToDelete,
  retainIsSacred,
  noLeak,
  nothingLost,
  writeOnce,
  readyStays,
  readyIsBacked,
];
