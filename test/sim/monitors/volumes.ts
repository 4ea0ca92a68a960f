/** V-1 to V-9, I-23 and I-24: no volume is lost, leaked, made twice, or given to a claim that asked for something else. */
import { finalizers, provisioning } from "../../../src/api/names.ts";
import type { KubeObject, PersistentVolume, PersistentVolumeClaim, VolumeSnapshot } from "../../../src/api/types.ts";
import { bytesIn, requestedBytes } from "../../../src/components/csi-provisioner/claims/claim.ts";
import { withoutAlias } from "../odd.ts";
import type { CsiSent, Seen, Write } from "../record.ts";
import { isOverdue } from "./claims.ts";
import { parting, wasStripped } from "./finalizers.ts";
import { claimsIn, contentsIn, has, isGoing, type Monitor, snapshotsIn, versionsKnown } from "./monitor.ts";
import { isDenied, isThere, referenceOf } from "./reference.ts";
import { hasToWaitFor } from "./restoring.ts";
import {
  callsIn,
  claimUidIn,
  claimWithUid,
  creationOf,
  everyVolume,
  isOfStoredCalls,
  isOfVolume,
  isOurName,
  sourcesOf,
  storedCalls,
  volumeNamed,
  volumesIn,
  wasLeft,
} from "./volume.ts";

const oneVolume: Monitor = {
  id: "V-1",
  promise: "the CreateVolume name is a function of the claim's uid, and no claim has two volumes",
  counter: "volumes made twice",
  onCall: ({ method, subject }, seen) =>
    method === "CreateVolume" && seen.pastOf(claimUidIn(subject)).length === 0
      ? `${subject} is the name of no claim's volume`
      : undefined,
  onEnd: (_, seen) => madeTwice(seen),
  onWrite: ({ kind }, seen) => (kind === "PersistentVolume" ? storedTwice(seen) : undefined),
};

const twiceIn = (values: readonly string[]): string | undefined =>
  values.find((value, index) => value !== "" && values.indexOf(value) !== index);

const madeTwice = (seen: Seen): string | undefined => {
  const twice = twiceIn([...seen.volumes.values()].map(({ name }) => name));
  return twice === undefined ? undefined : `${twice} is in the storage twice`;
};

const storedTwice = (seen: Seen): string | undefined => {
  const volumes = volumesIn(seen).filter(({ spec }) => spec?.csi?.driver === seen.driver);
  const uid = twiceIn(volumes.map(({ spec }) => spec?.claimRef?.uid ?? ""));
  if (uid !== undefined) return `two PersistentVolumes are for the claim with uid ${uid}`;
  const handle = twiceIn(volumes.map(({ spec }) => withoutAlias(spec?.csi?.volumeHandle ?? "")));
  return handle === undefined ? undefined : `two PersistentVolumes have volume ${handle}`;
};

const callFirst: Monitor = {
  id: "V-2",
  promise: "CreateVolume is sent only when the call is stored, with the same source",
  onCall(call, seen) {
    if (call.method !== "CreateVolume") return undefined;
    const stored = storedCalls(seen).get(call.subject)?.call;
    if (stored === undefined) return `${call.subject} is asked for, and the call is not stored`;
    return (stored.source?.handle ?? "") === call.source
      ? undefined
      : `${call.subject} is asked for from "${call.source}", and the stored call says "${stored.source?.handle ?? ""}"`;
  },
};

const outcomeFirst: Monitor = {
  id: "V-3",
  promise:
    "a stored call stays until its volume has a PersistentVolume, there is none and none is being made, or an event has named it as left",
  counter: "leaked volumes",
  onWrite(write, seen) {
    if (!isOfStoredCalls(write) || write.actor !== "csi-provisioner") return undefined;
    const kept = callsIn(write.after);
    for (const name of callsIn(write.before).keys()) {
      const wasStored = everyVolume(seen).some(({ volume }) => volume.metadata.name === name);
      if (kept.has(name) || wasStored || wasLeft(seen, name)) continue;
      if (seen.busy.has(name)) return `the call of ${name} went while the driver is at work on it`;
      if (volumeNamed(seen, name) !== undefined) return `the call of ${name} went, and the volume has no owner`;
    }
    return undefined;
  },
};

const rightToDelete: Monitor = {
  id: "V-4",
  promise: "DeleteVolume is sent only for a volume that no claim has and whose owner does not keep it",
  counter: "lost volumes",
  onCall(call, seen) {
    if (call.method !== "DeleteVolume" || !seen.volumes.has(withoutAlias(call.subject))) return undefined;
    // A request that outlives its sender brings a PersistentVolume back: see docs/reliability.md.
    const owners = everyVolume(seen).filter((item) => isOfVolume(call.subject)(item.volume));
    if (owners.some(({ volume }) => wasLate(seen, volume))) return undefined;
    for (const { volume, isThere: isStored } of owners) {
      const found = isStored ? unfree(call, seen, volume) : keptWithout(seen, volume);
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

const wasLate = (seen: Seen, volume: PersistentVolume): boolean => {
  const creation = creationOf(seen, volume);
  return creation !== undefined && isOverdue(seen, creation) && isHarmless(seen, volume);
};

const isKept = ({ spec }: PersistentVolume): boolean => spec?.persistentVolumeReclaimPolicy !== "Delete";

/** Why a PersistentVolume that is there forbids to delete its volume. */
function unfree(call: CsiSent, seen: Seen, volume: PersistentVolume): string | undefined {
  const { name, uid } = volume.metadata;
  const claim = claimWithUid(seen, volume.spec?.claimRef?.uid ?? "");
  const isWanted = claim !== undefined && isThere(seen, claim) && !isGoing(claim);
  // One that came when the server had been asked for it cannot be known.
  if (seen.knowledge.floorOf(call.process, uid, call.decidedMs) === undefined && !isWanted) return undefined;
  const known = versionsKnown<PersistentVolume>(seen, uid, call);
  if (known.every(isKept)) return `volume ${call.subject} is deleted, although PersistentVolume ${name} is retained`;
  return known.some(({ status }) => status?.phase === "Released")
    ? undefined
    : `volume ${call.subject} is deleted while PersistentVolume ${name} is in use`;
}

/** A PersistentVolume that went with Retain left its volume to its owner. */
const keptWithout = (seen: Seen, volume: PersistentVolume): string | undefined =>
  isKept(volume) && !seen.excused.has(volume.metadata.uid)
    ? `volume ${volume.spec?.csi?.volumeHandle} is deleted, although its owner retained it`
    : undefined;

const backed: Monitor = {
  id: "V-5",
  promise: "a PersistentVolume is stored only for a volume that the driver has, and that was made for its claim",
  counter: "lost volumes",
  onWrite(write, seen) {
    const made = madeBy(write, seen) ?? madeLateBy(write, seen);
    if (made === undefined) return undefined;
    const { volume, claim } = made;
    const handle = withoutAlias(volume.spec?.csi?.volumeHandle ?? "");
    const stored = seen.volumes.get(handle);
    if (stored === undefined) return `PersistentVolume ${write.key} has volume ${handle}, which is not in the storage`;
    return claim !== undefined && claimUidIn(stored.name) === claim.metadata.uid
      ? undefined
      : `PersistentVolume ${write.key} has volume ${handle}, which was made for another claim`;
  },
};

/** The PersistentVolume that this write has created, unless the request has outlived its sender. */
export const madeBy = (write: Write, seen: Seen): Made | undefined =>
  isOverdue(seen, write) ? undefined : createdBy(write, seen);

/** The same of a request that has outlived its sender, if it is harmful. */
function madeLateBy(write: Write, seen: Seen): Made | undefined {
  const made = createdBy(write, seen);
  return made === undefined || isHarmless(seen, made.volume) ? undefined : made;
}

/** Nobody has the claim that it is for, or it brings a PersistentVolume back: see docs/reliability.md. */
function isHarmless(seen: Seen, { metadata: { name, uid }, spec }: PersistentVolume): boolean {
  const claim = claimWithUid(seen, spec?.claimRef?.uid ?? "");
  return (
    claim === undefined ||
    !isThere(seen, claim) ||
    isGoing(claim) ||
    everyVolume(seen).some(({ volume: { metadata } }) => metadata.name === name && metadata.uid !== uid)
  );
}

interface Made {
  readonly volume: PersistentVolume;
  readonly claim: PersistentVolumeClaim | undefined;
}

function createdBy(write: Write, seen: Seen): Made | undefined {
  if (write.kind !== "PersistentVolume" || write.actor !== "csi-provisioner" || write.before !== undefined)
    return undefined;
  const volume = write.after as PersistentVolume;
  return { volume, claim: claimWithUid(seen, volume.spec?.claimRef?.uid ?? "") };
}

/**
 * Its owner retained it, so that its finalizer was removed, and then gave it up and deleted it before the provisioner could hear of that:
 * nothing held it.
 */
function wentBeforeHeard(seen: Seen, { metadata: { uid } }: PersistentVolume): boolean {
  const writes = seen.entries.filter(
    (entry): entry is Write => entry.type === "write" && (entry.after ?? entry.before)?.metadata.uid === uid,
  );
  const freed = writes.findLast(
    ({ actor, before, after }) =>
      actor === "csi-provisioner" && isHeld(before) && !isHeld(after) && isKept(before as PersistentVolume),
  );
  const givenUp = writes.find(
    ({ version, after }) => version > (freed?.version ?? 0) && !isKept((after ?? {}) as PersistentVolume),
  );
  const gone = writes.find(({ after }) => after === undefined);
  if (freed === undefined || givenUp === undefined || gone === undefined) return false;
  return (seen.knowledge.floorOf(freed.process, uid, gone.atMs) ?? 0) < givenUp.version;
}
const isHeld = (volume: KubeObject | undefined): boolean =>
  volume !== undefined && has(volume, provisioning.volumeFinalizer);

const noLeak: Monitor = {
  id: "V-6",
  promise:
    "every volume in the storage has exactly one PersistentVolume, was released by Retain, or is named in an event as left there",
  counter: "leaked volumes",
  atRest(seen) {
    for (const { id, name } of seen.volumes.values()) {
      if (!isOurName(name) || wasLeft(seen, name)) continue;
      const owners = everyVolume(seen).filter(({ volume }) => isOfVolume(id)(volume));
      const isReleased = owners.some(
        ({ volume }) => isKept(volume) || seen.excused.has(volume.metadata.uid) || wentBeforeHeard(seen, volume),
      );
      if (!owners.some((owner) => owner.isThere) && !isReleased) return `${id} has no PersistentVolume: it is leaked`;
    }
    return undefined;
  },
};

const nothingLost: Monitor = {
  id: "V-7",
  promise: "the volume of every remaining PersistentVolume is in the storage",
  counter: "lost volumes",
  atRest(seen) {
    const lost = volumesIn(seen).find((volume) => {
      const handle = withoutAlias(volume.spec?.csi?.volumeHandle ?? "");
      return (
        creationOf(seen, volume)?.actor === "csi-provisioner" &&
        !wasLate(seen, volume) &&
        !seen.volumes.has(handle) &&
        !isKeptTooLate(seen, volume)
      );
    });
    return lost === undefined ? undefined : `volume ${lost.spec?.csi?.volumeHandle} of ${lost.metadata.name} is gone`;
  },
};

/** Its owner decided to retain it when the driver had been asked to delete it. V-4 judges that question. */
const isKeptTooLate = (seen: Seen, volume: PersistentVolume): boolean =>
  isKept(volume) && seen.calls.some(({ method, subject }) => method === "DeleteVolume" && isOfVolume(subject)(volume));

const sourceStays: Monitor = {
  id: "V-8",
  promise:
    "a snapshot is not deleted at the driver, and no source loses its finalizer, while a volume is being made from it",
  counter: "lost snapshots",
  onCall(call, seen) {
    if (call.method !== "DeleteSnapshot") return undefined;
    for (const [name, intent] of storedCalls(seen)) {
      const claim = claimWithUid(seen, intent.claim.uid);
      if (withoutAlias(intent.call.source?.handle ?? "") !== withoutAlias(call.subject)) continue;
      if (claim === undefined || !isThere(seen, claim) || isGoing(claim) || volumeNamed(seen, name) !== undefined)
        continue;
      // What is asked for then is asked for only to be deleted.
      if (isDenied(seen, claim)) continue;
      if (!cameTooLate(seen, claim, intent.snapshotKey ?? ""))
        return `${call.subject} is deleted while ${name} is made from it`;
    }
    return undefined;
  },
  onWrite({ kind, key, actor, before, after }, seen) {
    const finalizer = sourceFinalizerOf(kind);
    if (actor !== "csi-provisioner" || finalizer === undefined) return undefined;
    if (before === undefined || !has(before, finalizer) || (after !== undefined && has(after, finalizer)))
      return undefined;
    for (const [name, { snapshotKey, claimKey }] of storedCalls(seen)) {
      const isMade = seen.busy.has(name) && volumeNamed(seen, name) === undefined && !wasLeft(seen, name);
      if (isMade && (kind === "VolumeSnapshot" ? snapshotKey : claimKey) === key)
        return `${kind} ${key} is not protected any more while ${name} is made from it`;
    }
    return undefined;
  },
};

const sourceFinalizerOf = (kind: Write["kind"]): string | undefined =>
  kind === "VolumeSnapshot"
    ? finalizers.snapshotRestoring
    : kind === "PersistentVolumeClaim"
      ? provisioning.claimCloningFinalizer
      : undefined;

/** Nobody could know of the claim, or that it may refer to the snapshot, when the snapshot was given up to deletion, it is younger than the deletion, or a user has removed the finalizers: see I-18. */
function cameTooLate(seen: Seen, claim: PersistentVolumeClaim, key: string): boolean {
  const snapshots = seen
    .everyPast("VolumeSnapshot")
    .map(({ object }) => object as VolumeSnapshot)
    .filter(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key);
  return snapshots.some((snapshot) => {
    const write = parting(seen, snapshot);
    const { deletionTimestamp = "9" } = snapshot.metadata;
    if ((claim.metadata.creationTimestamp ?? "") > deletionTimestamp || wasStripped(seen, snapshot)) return true;
    const isForced = contentsIn(seen).every(({ spec }) => spec.volumeSnapshotRef?.uid !== snapshot.metadata.uid);
    return write === undefined ? isForced : !hasToWaitFor(seen, write, claim, snapshot);
  });
}

const nothingLeft: Monitor = {
  id: "V-9",
  promise:
    "at rest no call is stored, no source is protected and no PersistentVolume is stuck; claims never get anything that only we remove",
  counter: "stuck finalizers",
  onWrite({ kind, actor, before, after }) {
    if (kind !== "PersistentVolumeClaim" || actor !== "csi-provisioner" || before === undefined) return undefined;
    const had = { ...before.metadata.annotations, ...before.metadata.labels };
    const added = Object.keys({ ...after?.metadata.annotations, ...after?.metadata.labels }).find(
      (name) => !(name in had),
    );
    return added === undefined ? undefined : `claim ${before.metadata.name} got ${added}`;
  },
  atRest(seen) {
    const [name] = storedCalls(seen).keys();
    if (name !== undefined && !wasStoredLate(seen)) return `the call of ${name} is still stored`;
    const snapshot = snapshotsIn(seen).find(
      (item) => has(item, finalizers.snapshotRestoring) && !wasAddedByUser(seen, item.metadata.uid),
    );
    if (snapshot !== undefined) return `snapshot ${snapshot.metadata.name} is protected, and nothing is made from it`;
    const claim = claimsIn(seen).find((item) => has(item, provisioning.claimCloningFinalizer));
    if (claim !== undefined) return `claim ${claim.metadata.name} is protected, and nothing is made from it`;
    const stuck = volumesIn(seen).find(
      (item) => isGoing(item) && item.status?.phase !== "Bound" && has(item, provisioning.volumeFinalizer),
    );
    return stuck === undefined ? undefined : `PersistentVolume ${stuck.metadata.name} is stuck in its deletion`;
  },
};

/** A user who plays a provisioner may forget the finalizer. */
const wasAddedByUser = (seen: Seen, uid: string): boolean => {
  const isOn = (object: KubeObject | undefined): boolean =>
    object !== undefined && has(object, finalizers.snapshotRestoring);
  const last = seen.entries.findLast(
    (entry): entry is Write =>
      entry.type === "write" && entry.after?.metadata.uid === uid && isOn(entry.after) && !isOn(entry.before),
  );
  return last?.actor === "user" && last.before !== undefined;
};

/** Stored by a request that has outlived its sender: nothing was sent, and whoever writes next finds it. */
const wasStoredLate = (seen: Seen): boolean => {
  const last = seen.entries.findLast((entry): entry is Write => entry.type === "write" && isOfStoredCalls(entry));
  return last !== undefined && isOverdue(seen, last);
};

const notEmpty: Monitor = {
  id: "I-23",
  promise: "a claim that names a source gets a volume made from this source, and never another or an empty one",
  onCall(call, seen) {
    const claim = call.method === "CreateVolume" ? claimWithUid(seen, claimUidIn(call.subject)) : undefined;
    const sources = claim === undefined ? undefined : sourcesOf(seen, claim);
    return sources === undefined || sources.has(withoutAlias(call.source))
      ? undefined
      : `${call.subject} is asked for from "${call.source}", which is not what claim ${claim?.metadata.name} names`;
  },
  onWrite(write, seen) {
    const { volume, claim } = madeBy(write, seen) ?? {};
    const sources = claim === undefined ? undefined : sourcesOf(seen, claim);
    const stored = seen.volumes.get(withoutAlias(volume?.spec?.csi?.volumeHandle ?? ""));
    return sources === undefined || stored === undefined || sources.has(withoutAlias(stored.source))
      ? undefined
      : `claim ${claim?.metadata.name} gets volume ${stored.id}, which was made from "${stored.source}"`;
  },
};

const fits: Monitor = {
  id: "I-24",
  promise: "a claim's volume is as large as it asks for, and as its source needs",
  onWrite(write, seen) {
    const { volume, claim } = madeBy(write, seen) ?? {};
    const asked = claim === undefined ? undefined : requestedBytes(claim);
    const promised = bytesIn(volume?.spec?.capacity?.storage ?? "0");
    const stored = seen.volumes.get(withoutAlias(volume?.spec?.csi?.volumeHandle ?? ""));
    if (asked === undefined || stored === undefined) return undefined;
    return stored.bytes >= asked && promised >= asked && stored.bytes >= promised
      ? undefined
      : `claim ${claim?.metadata.name} asks for ${asked} bytes and gets ${stored.bytes}, of which ${promised} are promised`;
  },
};

const noteFirst: Monitor = {
  id: "V-11",
  promise: "a PersistentVolume is stored only when it is noted beside its call, with the same volume",
  onWrite(write, seen) {
    const { volume } = createdBy(write, seen) ?? {};
    if (volume === undefined) return undefined;
    const { name } = volume.metadata;
    const handle = volume.spec?.csi?.volumeHandle;
    const notes = seen.entries.flatMap((entry) =>
      entry.type === "write" && isOfStoredCalls(entry) && callsIn(entry.after).has(name)
        ? [callsIn(entry.after).get(name)?.published]
        : [],
    );
    // Whether the call is stored at all, V-2 says.
    return notes.length === 0 || notes.includes(handle)
      ? undefined
      : `PersistentVolume ${name} is stored, and its call does not say that it may be`;
  },
};

const served: Monitor = {
  id: "V-10",
  promise: "at rest every claim has its volume whose class and source allow it",
  atRest(seen) {
    const waiting = claimsIn(seen).find(
      (claim) =>
        claim.metadata.annotations?.[provisioning.storageProvisioner] === seen.driver &&
        !isGoing(claim) &&
        !claim.spec?.volumeName &&
        seen.objects("StorageClass").has(claim.spec?.storageClassName ?? "") &&
        isAvailable(seen, claim),
    );
    return waiting === undefined ? undefined : `claim ${waiting.metadata.name} has no volume`;
  },
};

/** Whether what the claim names is there for good. */
function isAvailable(seen: Seen, claim: PersistentVolumeClaim): boolean {
  const { metadata, spec } = claim;
  if (isDenied(seen, claim)) return false;
  const ref = spec?.dataSource ?? spec?.dataSourceRef;
  if (ref === undefined || ref === null) return true;
  const key = referenceOf(seen, claim)?.key ?? `${metadata.namespace}/${ref.name}`;
  if (ref.kind === "PersistentVolumeClaim") {
    const claim = seen.objects("PersistentVolumeClaim").get(key) as PersistentVolumeClaim | undefined;
    return claim?.status?.phase === "Bound" && !isGoing(claim);
  }
  const snapshot = seen.objects("VolumeSnapshot").get(key) as VolumeSnapshot | undefined;
  const { boundVolumeSnapshotContentName: bound, readyToUse } = snapshot?.status ?? {};
  return (
    snapshot !== undefined &&
    !isGoing(snapshot) &&
    readyToUse === true &&
    contentsIn(seen).some((content) => content.metadata.name === bound && !isGoing(content))
  );
}

export const volumeMonitors: readonly Monitor[] = [
  oneVolume,
  callFirst,
  outcomeFirst,
  rightToDelete,
  backed,
  noLeak,
  nothingLost,
  sourceStays,
  nothingLeft,
  served,
  noteFirst,
  notEmpty,
  fits,
];
