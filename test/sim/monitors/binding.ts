/** I-10 to I-14: who belongs to whom, and what may be written where. */
import { annotations } from "../../../src/api/names.ts";
import type {
  KubeObject,
  PersistentVolume,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../../../src/api/types.ts";
import { equal, type JsonObject } from "../../../src/base/json.ts";
import type { Seen, Write } from "../record.ts";
import {
  classesIn,
  contentIn,
  isMeantBy,
  isOurs,
  type Monitor,
  snapshotIn,
  snapshotsIn,
  versionsKnown,
} from "./monitor.ts";

const boundTo = (write: Write, seen: Seen): VolumeSnapshotContent | undefined =>
  contentIn(
    seen.objects("VolumeSnapshotContent").get(snapshotIn(write.after)?.status?.boundVolumeSnapshotContentName ?? ""),
  );

/** No sidecar would ever serve it. */
function bindsWithoutDriver(write: Write): boolean {
  const [before, after] = [contentIn(write.before), contentIn(write.after)];
  if (write.kind !== "VolumeSnapshotContent" || !isOurs(write) || before === undefined) return false;
  return !before.spec.driver && !before.spec.volumeSnapshotRef?.uid && Boolean(after?.spec.volumeSnapshotRef?.uid);
}

const bijection: Monitor = {
  id: "I-10",
  promise: "a snapshot is bound to a content that names it and has a driver, and no content to two snapshots",
  onWrite(write, seen) {
    if (bindsWithoutDriver(write)) return `${write.key} has no driver, and is bound to a snapshot`;
    if (write.kind !== "VolumeSnapshot" || !isOurs(write) || write.after === undefined) return undefined;
    const content = boundTo(write, seen);
    if (content === undefined) return undefined;
    const { namespace, name } = content.spec.volumeSnapshotRef;
    const isUnnamed = !namespace || !name;
    if (
      isUnnamed ? content.spec.volumeSnapshotRef.uid !== write.after.metadata.uid : `${namespace}/${name}` !== write.key
    )
      return `${write.key} is bound to ${content.metadata.name} of ${namespace}/${name}`;
    const others = snapshotsIn(seen).filter(
      ({ status }) => status?.boundVolumeSnapshotContentName === content.metadata.name,
    );
    return others.length > 1 ? `${others.length} snapshots are bound to ${content.metadata.name}` : undefined;
  },
};

const uidFence: Monitor = {
  id: "I-11",
  promise: "a snapshot that is created later under the same name inherits nothing",
  onWrite(write, seen) {
    if (!isOurs(write) || write.after === undefined) return undefined;
    if (write.kind === "VolumeSnapshot") {
      const uid = boundTo(write, seen)?.spec.volumeSnapshotRef.uid;
      return uid && uid !== write.after.metadata.uid
        ? `${write.key} is bound to the content of its namesake`
        : undefined;
    }
    if (write.kind !== "VolumeSnapshotContent") return undefined;
    const [before, after] = [contentIn(write.before), contentIn(write.after)];
    const uid = before?.spec.volumeSnapshotRef?.uid;
    return uid && uid !== after?.spec.volumeSnapshotRef.uid ? `${write.key} was given to another snapshot` : undefined;
  },
};

/** What components may fill in where nothing stands. */
const fillable: Readonly<Record<string, readonly string[]>> = {
  VolumeSnapshot: ["volumeSnapshotClassName"],
  VolumeSnapshotContent: ["volumeSnapshotClassName", "volumeSnapshotRef"],
};

const specDiscipline: Monitor = {
  id: "I-12",
  promise: "components fill in a reference's uid and a defaulted class, and change no other part of a spec",
  onWrite(write) {
    if (!isOurs(write) || write.before === undefined || write.after === undefined || write.kind === "Lease")
      return undefined;
    const before = (write.before as unknown as { spec?: JsonObject }).spec ?? {};
    const after = (write.after as unknown as { spec?: JsonObject }).spec ?? {};
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].find((field) => {
      if (equal(before[field], after[field])) return false;
      if (!fillable[write.kind]?.includes(field)) return true;
      const old = before[field];
      return field === "volumeSnapshotRef"
        ? !equal({ ...(old as JsonObject), uid: undefined }, { ...(after[field] as JsonObject), uid: undefined })
        : old !== undefined;
    });
    return changed === undefined ? undefined : `spec.${changed} of ${write.kind} ${write.key} was changed`;
  },
};

const driverOfClaim = (seen: Seen, namespace: string | undefined, name: string): string | undefined => {
  const claim = seen.objects("PersistentVolumeClaim").get(`${namespace}/${name}`) as unknown as
    | { spec?: { volumeName?: string } }
    | undefined;
  return (
    seen.objects("PersistentVolume").get(claim?.spec?.volumeName ?? "") as unknown as PersistentVolume | undefined
  )?.spec?.csi?.driver;
};

const classChoice: Monitor = {
  id: "I-13",
  promise: "a class is chosen only if it is the single default class of the volume's driver",
  onWrite(write, seen) {
    if (write.kind !== "VolumeSnapshot" || !isOurs(write)) return undefined;
    const [before, after] = [snapshotIn(write.before), snapshotIn(write.after)];
    const chosen = after?.spec.volumeSnapshotClassName;
    if (after === undefined || chosen === undefined || before?.spec.volumeSnapshotClassName !== undefined)
      return undefined;
    const driver = driverOfClaim(seen, after.metadata.namespace, after.spec.source.persistentVolumeClaimName ?? "");
    const isDefault = (item: VolumeSnapshotClass): boolean =>
      item.driver === driver && item.metadata.annotations?.[annotations.defaultClass] === "true";
    const uids = new Set(seen.everyPast("VolumeSnapshotClass").map(({ object }) => object.metadata.uid));
    const isKnown = (uid: string): boolean => seen.knowledge.floorOf(write.process, uid, write.decidedMs) !== undefined;
    const isThere = (uid: string): boolean => classesIn(seen).some(({ metadata }) => metadata.uid === uid);
    let couldBeIt = false;
    for (const uid of uids) {
      const known = versionsKnown<VolumeSnapshotClass>(seen, uid, write);
      if (known.some((item) => item.metadata.name === chosen && isDefault(item))) couldBeIt = true;
      else if (isKnown(uid) && known.every(isDefault) && isThere(uid))
        return `${write.key} was given class ${chosen}, and ${known[0]?.metadata.name} is a default as well`;
    }
    return couldBeIt ? undefined : `${write.key} was given class ${chosen}, which is no default of ${driver}`;
  },
};

const isForeign = (seen: Seen, object: KubeObject): boolean => {
  const driver = contentIn(object)?.spec.driver;
  return driver !== undefined && driver !== seen.driver;
};

const driverFence: Monitor = {
  id: "I-14",
  promise: "the sidecar of one driver changes no objects of another driver",
  onWrite(write, seen) {
    if (write.kind !== "VolumeSnapshotContent" || write.actor !== "csi-snapshotter") return undefined;
    const object = write.after ?? write.before;
    return object !== undefined && isForeign(seen, object) ? `${write.key} belongs to another driver` : undefined;
  },
  onCall(call, seen) {
    const isMeant = isMeantBy(call);
    const about = seen
      .everyPast("VolumeSnapshotContent")
      .filter(({ object }) => isMeant(object as VolumeSnapshotContent));
    const isFenced = about.length > 0 && about.every(({ object }) => isForeign(seen, object));
    return isFenced ? `${call.method} ${call.subject} is another driver's` : undefined;
  },
};

export const binding: readonly Monitor[] = [bijection, uidFence, specDiscipline, classChoice, driverFence];
