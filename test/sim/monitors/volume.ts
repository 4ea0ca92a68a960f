/** How monitors read the history of volumes: stored calls, claims and PersistentVolumes by the names that the driver is asked for. */
import type {
  KubeObject,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from "../../../src/api/types.ts";
import { limits } from "../../../src/base/limits.ts";
import type { Intent } from "../../../src/components/csi-provisioner/intent.ts";
import { unchecked } from "../../../src/components/csi-provisioner/intent-text.ts";
import { intents } from "../components.ts";
import { withoutAlias } from "../odd.ts";
import type { CsiSent, Seen, Write } from "../record.ts";
import type { StoredVolume } from "../volumes.ts";
import { handleOf } from "./monitor.ts";

const leaseKey = `${intents.namespace}/${intents.name}`;
const annotation = "snapkeep.dev/create-volume-calls";
const parsed = new WeakMap<KubeObject, ReadonlyMap<string, Intent>>();
const none: ReadonlyMap<string, Intent> = new Map();

/** The CreateVolume calls that a version of the Lease holds. */
export function callsIn(lease: KubeObject | undefined): ReadonlyMap<string, Intent> {
  if (lease === undefined) return none;
  const known = parsed.get(lease);
  if (known !== undefined) return known;
  const text = lease.metadata.annotations?.[annotation];
  const read = text === undefined ? none : new Map(unchecked(text) as readonly (readonly [string, Intent])[]);
  parsed.set(lease, read);
  return read;
}

export const isOfStoredCalls = ({ kind, key }: Write): boolean => kind === "Lease" && key === leaseKey;
export const storedCalls = (seen: Seen): ReadonlyMap<string, Intent> => callsIn(seen.objects("Lease").get(leaseKey));

export const volumesIn = (seen: Seen): readonly PersistentVolume[] => [
  ...(seen.objects("PersistentVolume").values() as Iterable<unknown> as Iterable<PersistentVolume>),
];
const handleIn = ({ spec }: PersistentVolume): string => withoutAlias(spec?.csi?.volumeHandle ?? "");
export const isOfVolume =
  (id: string) =>
  (volume: PersistentVolume): boolean =>
    handleIn(volume) === withoutAlias(id);

/** The last version of every PersistentVolume that ever was, and whether it is there. */
export function everyVolume(seen: Seen): readonly { readonly volume: PersistentVolume; readonly isThere: boolean }[] {
  const last = new Map<string, PersistentVolume>();
  for (const { object } of seen.everyPast("PersistentVolume"))
    last.set(object.metadata.uid, object as PersistentVolume);
  const there = new Set(volumesIn(seen).map(({ metadata }) => metadata.uid));
  return [...last.values()].map((volume) => ({ volume, isThere: there.has(volume.metadata.uid) }));
}

const prefix = "pvc-";
export const isOurName = (name: string): boolean => name.startsWith(prefix);
/** In the name of a volume, as it is asked of the driver. */
export const claimUidIn = (name: string): string => name.slice(prefix.length);
export const volumeNamed = (seen: Seen, name: string): StoredVolume | undefined =>
  [...seen.volumes.values()].find((volume) => volume.name === name);

/** The claim as it is, or as it was last. */
export const claimWithUid = (seen: Seen, uid: string): PersistentVolumeClaim | undefined =>
  seen.pastOf(uid).at(-1)?.object as PersistentVolumeClaim | undefined;

/** Everything that ever was the data of what the claim names: handles of snapshots, or ids of volumes. Undefined: it names nothing. */
export function sourcesOf(seen: Seen, { metadata, spec }: PersistentVolumeClaim): ReadonlySet<string> | undefined {
  const ref = spec?.dataSource ?? spec?.dataSourceRef;
  if (ref === undefined || ref === null) return undefined;
  const { namespace = metadata.namespace } = ref as { namespace?: string };
  if (ref.kind === "VolumeSnapshotLink")
    return new Set(linksNamed(seen, `${namespace}/${ref.name}`).flatMap((key) => [...snapshotHandles(seen, key)]));
  return ref.kind === "VolumeSnapshot"
    ? snapshotHandles(seen, `${namespace}/${ref.name}`)
    : claimHandles(seen, `${namespace}/${ref.name}`);
}

/** Whether an event has said that this volume may be left at the driver, after as many replies that cannot be read as it takes. */
export function wasLeft(seen: Seen, name: string): boolean {
  const calls = seen.calls.filter(({ method, subject }) => method === "CreateVolume" && subject === name);
  const isNamed = seen.entries.some(
    (entry) =>
      entry.type === "note" &&
      entry.what === "said" &&
      entry.text.startsWith("event VolumeLeftAtDriver") &&
      entry.text.includes(`"${name}"`),
  );
  return (
    isNamed &&
    calls.some(({ process }) =>
      unreadableInRow(
        seen,
        calls.filter((call) => call.process === process),
      ),
    )
  );
}

function unreadableInRow(seen: Seen, calls: readonly CsiSent[]): boolean {
  let inRow = 0;
  for (const { outcome, final } of calls.flatMap((call) => seen.endOf(call) ?? [])) {
    if (outcome === "MalformedReply") inRow += 1;
    else if (final) inRow = 0;
    if (inRow === limits.malformedRepliesMax) return true;
  }
  return false;
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** What every incarnation of a link points at. */
export const linksNamed = (seen: Seen, key: string): readonly string[] =>
  seen
    .everyPast("VolumeSnapshotLink")
    .filter(({ object }) => keyOf(object) === key)
    .map(({ object }) => {
      const { namespace = object.metadata.namespace, name } = (object as VolumeSnapshotLink).spec?.source ?? {};
      return `${namespace}/${name}`;
    });

/** Of one incarnation, or of all of that name. */
export function snapshotHandles(seen: Seen, key: string, uid?: string): ReadonlySet<string> {
  const snapshots = seen
    .everyPast("VolumeSnapshot")
    .filter(({ object }) => keyOf(object) === key && (uid === undefined || object.metadata.uid === uid));
  const uids = new Set(snapshots.map(({ object }) => (object as VolumeSnapshot).metadata.uid));
  const contents = seen
    .everyPast("VolumeSnapshotContent")
    .map(({ object }) => object as VolumeSnapshotContent)
    .filter(({ spec }) => uids.has(spec.volumeSnapshotRef?.uid ?? ""));
  return new Set(contents.flatMap((content) => withoutAlias(handleOf(content) ?? "") || []));
}

function claimHandles(seen: Seen, key: string): ReadonlySet<string> {
  const claims = seen.everyPast("PersistentVolumeClaim").filter(({ object }) => keyOf(object) === key);
  const names = new Set(claims.map(({ object }) => (object as PersistentVolumeClaim).spec?.volumeName ?? ""));
  const volumes = seen.everyPast("PersistentVolume").filter(({ object }) => names.has(object.metadata.name));
  return new Set(volumes.map(({ object }) => handleIn(object as PersistentVolume)));
}

/** The write that created an object. */
export const creationOf = (seen: Seen, { metadata }: KubeObject): Write | undefined =>
  seen.entries.find((entry): entry is Write => entry.type === "write" && entry.after?.metadata.uid === metadata.uid);
