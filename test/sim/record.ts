/** What happened in one run, in order. Monitors, traces and counters read this and nothing else. */
import type { KubeObject } from "../../src/api/types.ts";
import type { FaultCode } from "../../src/base/fault.ts";
import type { StoredSnapshot } from "./backend.ts";
import { createKnowledge, type Knowledge } from "./knowledge.ts";
import type { StoredVolume } from "./volumes.ts";

/** The kinds whose every version is kept. */
export const watchedKinds = [
  "VolumeSnapshot",
  "VolumeSnapshotContent",
  "VolumeSnapshotClass",
  "PersistentVolumeClaim",
  "PersistentVolume",
  "StorageClass",
  "ReferenceGrant",
  "VolumeSnapshotLink",
  "Lease",
] as const;
export type WatchedKind = (typeof watchedKinds)[number];

/** Who wrote: a process of the system under test, the user, or the API server's own controllers. */
export type Actor = "snapshot-controller" | "csi-snapshotter" | "csi-provisioner" | "user" | "server";

export interface Write {
  readonly type: "write";
  readonly atMs: number;
  readonly actor: Actor;
  /** Which start of the component: "snapshot-controller.2". */
  readonly process: string;
  readonly verb: string;
  readonly kind: WatchedKind;
  readonly key: string;
  /** The request named the version or the incarnation it was decided for. */
  readonly guarded: () => boolean;
  /** When its sender handed it to the line. It may have left long after: what was heard in between came too late for it. */
  readonly decidedMs: number;
  /** The version that this write made, also of what it removed. */
  readonly version: number;
  readonly before: KubeObject | undefined;
  /** Undefined: removed. */
  readonly after: KubeObject | undefined;
}

export interface CsiSent {
  readonly type: "csi";
  readonly id: number;
  readonly atMs: number;
  /** As of a write. */
  readonly decidedMs: number;
  readonly process: string;
  readonly method: "CreateSnapshot" | "DeleteSnapshot" | "ListSnapshots" | "CreateVolume" | "DeleteVolume";
  /** The name asked for, the handle, or the id of the volume. */
  readonly subject: string;
  /** The volume of which a snapshot is taken. */
  readonly volume: string;
  /** The handle or id that a volume is made from. */
  readonly source: string;
}

export interface CsiEnded {
  readonly type: "csi-end";
  readonly id: number;
  readonly atMs: number;
  /** The result that the caller got. */
  readonly outcome: "ok" | FaultCode;
  readonly final: boolean;
}

export interface Note {
  readonly type: "note";
  readonly atMs: number;
  /** ended: a component gave up by itself. said: a log line or an event. */
  readonly what: "call" | "fault" | "crash" | "start" | "user" | "ended" | "said" | "frozen";
  readonly process: string;
  readonly text: string;
}
export type TakeNote = (what: Note["what"], process: string, text: string) => void;

/** What the webhook has answered about a create or an update that was otherwise accepted. */
export interface AdmissionEntry {
  readonly type: "admission";
  readonly atMs: number;
  readonly kind: WatchedKind;
  readonly key: string;
  /** Undefined: a creation. */
  readonly before: KubeObject | undefined;
  readonly after: KubeObject;
  /** Why it was denied; undefined: it was not. */
  readonly refused: string | undefined;
}

export type Entry = Write | CsiSent | CsiEnded | Note | AdmissionEntry;

export interface Past {
  readonly object: KubeObject;
  readonly version: number;
}

/** The history so far, and what follows from it. */
export interface Seen {
  readonly entries: readonly Entry[];
  readonly driver: string;
  readonly knowledge: Knowledge;
  /** Handles and uids for which the user has taken the responsibility, by force. */
  readonly excused: Set<string>;
  readonly secrets: readonly string[];
  objects(kind: WatchedKind): ReadonlyMap<string, KubeObject>;
  /** All versions of one incarnation, oldest first. */
  pastOf(uid: string): readonly Past[];
  /** All versions of all incarnations of a kind, in order of first sight. */
  everyPast(kind: WatchedKind): readonly Past[];
  readonly calls: readonly CsiSent[];
  endOf(call: CsiSent): CsiEnded | undefined;
  /** What is in the storage system now, and what ever was there before the run. */
  readonly storage: ReadonlyMap<string, StoredSnapshot>;
  readonly creations: readonly string[];
  readonly volumes: ReadonlyMap<string, StoredVolume>;
  /** Names that the driver is at work on. */
  readonly busy: ReadonlySet<string>;
}

export interface RecordOptions {
  readonly driver: string;
  readonly storage: ReadonlyMap<string, StoredSnapshot>;
  readonly volumes?: ReadonlyMap<string, StoredVolume>;
  readonly busy?: ReadonlySet<string>;
  readonly creations: readonly string[];
  readonly secrets?: readonly string[];
}

export interface Recorder extends Seen {
  take(entry: Entry): void;
  /** Told of every entry, at once: what the cluster looks like is part of what happened. */
  listen(listener: (entry: Entry) => void): void;
}

export function createRecorder(options: RecordOptions): Recorder {
  const { driver, storage, creations, secrets = [], volumes = new Map(), busy = new Set() } = options;
  const entries: Entry[] = [];
  const byKind = new Map<WatchedKind, Map<string, KubeObject>>(watchedKinds.map((kind) => [kind, new Map()]));
  const pasts = new Map<string, Past[]>();
  const kinds = new Map<WatchedKind, Past[]>(watchedKinds.map((kind) => [kind, []]));
  const calls: CsiSent[] = [];
  const knowledge = createKnowledge();
  const ends = new Map<number, CsiEnded>();
  let listener: (entry: Entry) => void = () => undefined;

  const write = ({ kind, key, before, after, version }: Write): void => {
    knowledge.exists(version, kind, (after ?? before)?.metadata.uid ?? "");
    if (after === undefined) return void byKind.get(kind)?.delete(key);
    byKind.get(kind)?.set(key, after);
    const past: Past = { object: after, version };
    const known = pasts.get(after.metadata.uid);
    if (known === undefined) pasts.set(after.metadata.uid, [past]);
    else known.push(past);
    kinds.get(kind)?.push(past);
  };

  return {
    entries,
    driver,
    knowledge,
    excused: new Set(),
    secrets,
    calls,
    storage,
    creations,
    volumes,
    busy,
    objects: (kind) => byKind.get(kind) ?? new Map(),
    pastOf: (uid) => pasts.get(uid) ?? [],
    everyPast: (kind) => kinds.get(kind) ?? [],
    endOf: ({ id }) => ends.get(id),
    take(entry) {
      entries.push(entry);
      if (entry.type === "write") write(entry);
      else if (entry.type === "csi") calls.push(entry);
      else if (entry.type === "csi-end") ends.set(entry.id, entry);
      listener(entry);
    },
    listen: (reported) => {
      listener = reported;
    },
  };
}

/** One line per entry, for people. */
export function describe(entry: Entry): string {
  const at = `${entry.atMs.toFixed(1).padStart(10)} ms`;
  switch (entry.type) {
    case "write":
      return `${at}  ${entry.process} ${entry.verb} ${entry.kind} ${entry.key} ${gist(entry.after)}`;
    case "admission":
      return `${at}  webhook ${entry.refused === undefined ? "allows" : "refuses"} ${entry.kind} ${entry.key} ${entry.refused ?? ""}`;
    case "csi":
      return `${at}  ${entry.process} → ${entry.method} ${entry.subject}`;
    case "csi-end":
      return `${at}  ← call ${entry.id}: ${entry.outcome}`;
    case "note":
      return `${at}  ${entry.process} [${entry.what}] ${entry.text}`;
  }
}

function gist(object: KubeObject | undefined): string {
  if (object === undefined) return "(removed)";
  const { finalizers = [], annotations = {}, labels = {}, deletionTimestamp, resourceVersion } = object.metadata;
  const { status } = object as { status?: object };
  const short = (text: string): string => text.slice(text.indexOf("/") + 1);
  return [
    `v${resourceVersion}`,
    deletionTimestamp === undefined ? "" : "deleting",
    `finalizers=${finalizers.map(short).join("+")}`,
    `notes=${Object.entries(annotations)
      .map(([key, value]) => `${short(key)}:${value}`)
      .join("+")}`,
    Object.keys(labels).length === 0 ? "" : `labels=${Object.keys(labels).map(short).join("+")}`,
    status === undefined
      ? ""
      : `status=${JSON.stringify(status, (_, value) => (typeof value === "bigint" ? String(value) : value))}`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}
