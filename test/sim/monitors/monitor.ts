/** What a monitor is, and how it reads the history. Each is a pure function; undefined means that its promise holds. */

import { annotations } from "../../../src/api/names.ts";
import type {
  KubeObject,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../../../src/api/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { limits } from "../../../src/base/limits.ts";
import { kindRules } from "../../../src/rules/kind-rules.ts";
import { withoutAlias } from "../odd.ts";
import type { AdmissionEntry, CsiEnded, CsiSent, Note, Past, Seen, WatchedKind, Write } from "../record.ts";

export type Counter =
  | "leaked snapshots"
  | "lost snapshots"
  | "stuck finalizers"
  | "snapshots taken twice"
  | "leaked volumes"
  | "lost volumes"
  | "volumes made twice"
  | "secrets seen";

export interface Monitor {
  readonly id: string;
  readonly promise: string;
  readonly counter?: Counter;
  onWrite?(write: Write, seen: Seen): string | undefined;
  onCall?(call: CsiSent, seen: Seen): string | undefined;
  /** The caller has got the result of its call. */
  onEnd?(ended: CsiEnded, seen: Seen): string | undefined;
  onAdmission?(entry: AdmissionEntry): string | undefined;
  onNote?(note: Note, seen: Seen): string | undefined;
  atRest?(seen: Seen): string | undefined;
}

/** The rules that it breaks by itself, each by its code and its field. */
export const brokenRules = (kind: LabelledKind, object: KubeObject): readonly string[] =>
  kindRules[kind].strict(object as unknown as JsonObject).map(({ code, field }) => `${code} at ${field}`);
export type LabelledKind = "VolumeSnapshot" | "VolumeSnapshotContent";
export const isInvalid = (kind: LabelledKind, object: KubeObject): boolean => brokenRules(kind, object).length > 0;

const ours: ReadonlySet<string> = new Set(["snapshot-controller", "csi-snapshotter", "csi-provisioner"]);
export const isOurs = ({ actor }: Write): boolean => ours.has(actor);

const all = <T extends KubeObject>(seen: Seen, kind: WatchedKind): readonly T[] => [
  ...(seen.objects(kind).values() as Iterable<unknown> as Iterable<T>),
];
export const snapshotsIn = (seen: Seen): readonly VolumeSnapshot[] => all(seen, "VolumeSnapshot");
export const contentsIn = (seen: Seen): readonly VolumeSnapshotContent[] => all(seen, "VolumeSnapshotContent");
export const claimsIn = (seen: Seen): readonly PersistentVolumeClaim[] => all(seen, "PersistentVolumeClaim");
export const classesIn = (seen: Seen): readonly VolumeSnapshotClass[] => all(seen, "VolumeSnapshotClass");

export const contentIn = (object: KubeObject | undefined): VolumeSnapshotContent | undefined =>
  object as VolumeSnapshotContent | undefined;
export const snapshotIn = (object: KubeObject | undefined): VolumeSnapshot | undefined =>
  object as VolumeSnapshot | undefined;

export const isBeingCreated = (content: VolumeSnapshotContent): boolean =>
  content.metadata.annotations?.[annotations.beingCreated] === "yes";
export const handleOf = (content: VolumeSnapshotContent): string | undefined =>
  content.status?.snapshotHandle ?? content.spec.source?.snapshotHandle;
export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
export const has = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) === true;

/** Whether what a handle names is in the storage; a driver may know a snapshot by several. */
export const isStored = (seen: Seen, handle: string): boolean => seen.storage.has(withoutAlias(handle));

/** When the deletion of an object was asked for, by the clock of the history. */
const goingSinceMs = (seen: Seen, uid: string): number =>
  seen.entries.find((entry) => entry.type === "write" && entry.after?.metadata.uid === uid && isGoing(entry.after))
    ?.atMs ?? 0;

/**
 * Whether the last replies that this process got about it since it goes could not be read, so many of them that it may be let go although nobody
 * knows what the driver has done, and whether it has said so: see docs/reliability.md.
 */
export function wasUnreadable(
  seen: Seen,
  { process, decidedMs, before }: Write,
  { method, subject }: Pick<CsiSent, "method" | "subject">,
): boolean {
  const sinceMs = goingSinceMs(seen, before?.metadata.uid ?? "");
  const last = seen.calls
    .filter((call) => call.process === process && call.method === method && call.subject === subject)
    .filter((call) => call.decidedMs >= sinceMs)
    .flatMap((call) => seen.endOf(call) ?? [])
    .filter(({ atMs, outcome, final }) => atMs <= decidedMs && (final || outcome === "MalformedReply"))
    .slice(-limits.malformedRepliesMax);
  return (
    last.length === limits.malformedRepliesMax &&
    last.every(({ outcome }) => outcome === "MalformedReply") &&
    wasNamedAsLeft(seen, subject)
  );
}

/** Whether an event has said that this snapshot may be left at the driver. */
export const wasNamedAsLeft = (seen: Seen, subject: string): boolean =>
  seen.entries.some(
    (entry) =>
      entry.type === "note" &&
      entry.what === "said" &&
      entry.text.startsWith("event SnapshotLeftAtDriver") &&
      entry.text.includes(`"${subject}"`),
  );

/** The uid in the name asked of the driver. */
export const uidInName = (name: string): string => name.replace(/^snapshot-/, "");

/** Whether a content is the one that a call of the driver is about: by its name as long as there is no handle. */
export function isMeantBy({ method, subject }: CsiSent): (content: VolumeSnapshotContent) => boolean {
  if (method !== "CreateSnapshot") return (content) => handleOf(content) === subject;
  const uid = uidInName(subject);
  return (content) => content.spec.volumeSnapshotRef?.uid === uid;
}

/** Who sent something, and when that was decided. */
export interface Sender {
  readonly process: string;
  readonly decidedMs: number;
}

/** Whether what was sent then can rest on this version: it is not older than what its sender had looked at. */
const canRestOn =
  (seen: Seen, { process, decidedMs }: Sender) =>
  ({ object, version }: Past): boolean =>
    version >= (seen.knowledge.floorOf(process, object.metadata.uid, decidedMs) ?? 0);

/** All versions of the contents that are meant, on which what was sent then can rest. */
export const contentsKnown = (
  seen: Seen,
  sender: Sender,
  isMeant: (content: VolumeSnapshotContent) => boolean,
): readonly VolumeSnapshotContent[] =>
  seen
    .everyPast("VolumeSnapshotContent")
    .filter(({ object }) => isMeant(object as VolumeSnapshotContent))
    .filter(canRestOn(seen, sender))
    .map(({ object }) => object as VolumeSnapshotContent);

/** The same, of one incarnation of anything. */
export const versionsKnown = <T extends KubeObject>(seen: Seen, uid: string, sender: Sender): readonly T[] =>
  seen
    .pastOf(uid)
    .filter(canRestOn(seen, sender))
    .map(({ object }) => object as T);
