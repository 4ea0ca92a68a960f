/** A history to be judged, written by hand: objects, calls and what the driver has. */
import type { KubeObject } from "../../../src/api/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { StoredSnapshot } from "../backend.ts";
import { type Actor, type CsiEnded, type CsiSent, createRecorder, type Recorder, type WatchedKind } from "../record.ts";
import type { StoredVolume } from "../volumes.ts";
import { createJudge, monitors } from "./index.ts";

export const driver = "disk.example.com";
export const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };

export interface Parts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}
export const object = (kind: string, metadata: JsonObject, { metadata: more, ...rest }: Parts): KubeObject =>
  ({ kind, ...rest, metadata: { resourceVersion: "1", ...metadata, ...more } }) as unknown as KubeObject;

export interface Bench {
  readonly recorder: Recorder;
  readonly storage: Map<string, StoredSnapshot>;
  readonly volumes: Map<string, StoredVolume>;
  readonly busy: Set<string>;
  write(actor: Actor, before: KubeObject | undefined, after: KubeObject | undefined, guarded?: boolean): void;
  call(method: CsiSent["method"], subject: string, source?: string): void;
  end(outcome: CsiEnded["outcome"], final: boolean): void;
  note(what: "ended" | "said" | "call" | "crash", text: string, process?: string): void;
  /** The component is sent what was written last. */
  show(actor: Actor): void;
}

export function bench(): Bench {
  const storage = new Map<string, StoredSnapshot>();
  const volumes = new Map<string, StoredVolume>();
  const busy = new Set<string>();
  const recorder = createRecorder({ driver, storage, volumes, busy, creations: [], secrets: ["hunter2"] });
  let atMs = 0;
  let calls = 0;
  let version = 1;
  const next = (): number => (atMs += 10_000);
  return {
    recorder,
    storage,
    volumes,
    busy,
    write: (actor, before, after, guarded = true) => {
      const { kind, metadata } = (after ?? before) as KubeObject;
      const key = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
      recorder.take({
        type: "write",
        atMs: next(),
        actor,
        process: `${actor}.1`,
        verb: "PATCH",
        kind: kind as WatchedKind,
        key,
        guarded: () => guarded,
        decidedMs: atMs,
        version: ++version,
        before,
        after,
      });
    },
    call: (method, subject, source = "") =>
      recorder.take({
        type: "csi",
        id: ++calls,
        atMs: next(),
        decidedMs: atMs,
        process: method.endsWith("Volume") ? "csi-provisioner.1" : "csi-snapshotter.1",
        method,
        subject,
        volume: "vol",
        source,
      }),
    end: (outcome, final) => recorder.take({ type: "csi-end", id: calls, atMs: next(), outcome, final }),
    show: (actor) => {
      const text = `{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"${version}"}}}\n`;
      recorder.knowledge.reported(`${actor}.1`, next(), text);
    },
    note: (what, text, process = "snapshot-controller.1") =>
      recorder.take({ type: "note", atMs: next(), what, process, text }),
  };
}

/** The promises that a history breaks, as far as the monitors are on. */
export function idsFoundIn(history: (bench: Bench) => void, off?: string): readonly string[] {
  const made = bench();
  const judge = createJudge(
    made.recorder,
    monitors.filter(({ id }) => id !== off),
  );
  made.recorder.listen(() => judge.look());
  history(made);
  judge.rest();
  return [...new Set(judge.violations().map(({ id }) => id))];
}
