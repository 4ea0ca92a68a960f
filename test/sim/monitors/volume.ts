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
import type { Intent } from "../../../src/components/csi-provisioner/stored-calls/intent.ts";
import { unchecked } from "../../../src/components/csi-provisioner/stored-calls/intent-text.ts";
import { intents } from "../components.ts";
import { withoutAlias } from "../odd.ts";
import type { CsiSent, Note, Seen, Write } from "../record.ts";
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

/** Whether an event has said that this volume may be left at the driver, and there was a reason. */
export const wasLeft = (seen: Seen, name: string): boolean =>
  wasUnreadable(seen, name) || wasUncertain(seen, name) || wasOther(seen, name);

const reportsOf = (seen: Seen, name: string, code: string): readonly Note[] =>
  seen.entries.filter(
    (entry): entry is Note =>
      entry.type === "note" &&
      entry.what === "said" &&
      entry.text.startsWith("event VolumeLeftAtDriver") &&
      entry.text.includes(`"${name}"`) &&
      entry.text.includes(code),
  );

/**
 * A process has noted that it was about to store the PersistentVolume, and another one found the note when neither PersistentVolume nor
 * claim were there. A process that knows what came of its own request has nothing to report.
 */
export function wasUncertain(seen: Seen, name: string): boolean {
  const noted = seen.entries.find(
    (entry): entry is Write =>
      entry.type === "write" &&
      isOfStoredCalls(entry) &&
      callsIn(entry.after).get(name)?.published !== undefined &&
      callsIn(entry.before).get(name)?.published === undefined,
  );
  const claim = claimWithUid(seen, claimUidIn(name));
  const isClaimed =
    claim !== undefined && seen.objects("PersistentVolumeClaim").get(keyOf(claim))?.metadata.uid === claim.metadata.uid;
  return (
    noted !== undefined &&
    !isClaimed &&
    reportsOf(seen, name, "SNAP-349").some(({ process, atMs }) => process !== noted.process && atMs > noted.atMs)
  );
}

/** The driver has refused to say the id several times, because it had the volume with other arguments. */
function wasOther(seen: Seen, name: string): boolean {
  const calls = seen.calls.filter(({ method, subject }) => method === "CreateVolume" && subject === name);
  const refused = calls.filter((call) => seen.endOf(call)?.outcome === "AlreadyExists");
  return refused.length >= limits.malformedRepliesMax && reportsOf(seen, name, "SNAP-348").length > 0;
}

/** After as many replies that cannot be read as it takes. */
function wasUnreadable(seen: Seen, name: string): boolean {
  const calls = seen.calls.filter(({ method, subject }) => method === "CreateVolume" && subject === name);
  return (
    reportsOf(seen, name, "SNAP-348").length > 0 &&
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

/** Lists the handles of one incarnation, or of all of that name. */
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
