/** A snapshot CRD as it is stored: its phase, and what an earlier run of migrate has recorded on it. Pure. */
import type { CrdOptions, CrdPhase, SnapshotKind } from "../../api/crds/index.ts";
import { snapshotCrd } from "../../api/crds/index.ts";
import type { ObjectOf } from "../../api/types.ts";
import { equal, isObject, parse, print } from "../../base/json.ts";

export type Crd = ObjectOf<"CustomResourceDefinition">;
export type Version = "v1" | "v1beta1";

/** Where the migration goes. */
export interface Goal extends CrdOptions {
  readonly phase: CrdPhase;
  /** A rollback: stored objects are not judged. */
  readonly back: boolean;
}

/** Written with every step into an annotation of the CRD, so that a run that was killed can be resumed by any other. */
export interface MigrationRecord {
  readonly goal: CrdPhase;
  readonly serveV1beta1: boolean;
  readonly back: boolean;
  /** The run that may write. A later run writes its own name here, and the earlier one stops. */
  readonly run: string;
  readonly startedAt: string;
  /** The last step that is finished. */
  readonly step: StepName | "begun" | "finished";
  readonly rewrite?: Rewrite | undefined;
  /** Since when v1 and v1beta1 are served side by side: before that, clients of v1beta1 had no choice. */
  readonly bothServedSince?: string | undefined;
}

/** Objects whose resourceVersion is newer than `after` are stored in `version`: they need no rewrite. */
export interface Rewrite {
  readonly version: Version;
  readonly after: string;
  /** metadata.generation of the CRD: a record counts only as long as nobody has changed its spec. */
  readonly generation: number;
  readonly done: boolean;
}

export type StepName = "apply" | "rewrite" | "prune";

export const recordAnnotation = "snapkeep.dev/migration";

/** What is known of one CRD. */
export interface Definition {
  readonly kind: SnapshotKind;
  /** Undefined: there is no such CRD. */
  readonly phase: CrdPhase | undefined;
  readonly storage: Version | undefined;
  /** Names of spec.versions. */
  readonly versions: readonly string[];
  readonly served: readonly string[];
  readonly storedVersions: readonly string[];
  readonly record: MigrationRecord | undefined;
  /** What the record says of the rewrite, if it still counts. */
  readonly rewrite: Rewrite | undefined;
  /** Whether spec.versions are what this release writes. */
  isAsIn(phase: CrdPhase, options: CrdOptions): boolean;
}

export function definitionOf(kind: SnapshotKind, crd: Crd | undefined): Definition {
  const rows = crd?.spec?.versions ?? [];
  const names = rows.map(({ name }) => name);
  const storage = rows.find((row) => row.storage)?.name as Version | undefined;
  const record = crd && recordIn(crd);
  const counts =
    record?.step !== "finished" &&
    record?.rewrite?.version === storage &&
    record?.rewrite?.generation === crd?.metadata.generation;
  return {
    kind,
    phase: crd === undefined ? undefined : storage === "v1" ? 3 : names.includes("v1") ? 2 : 1,
    storage,
    versions: names,
    served: rows.filter((row) => row.served).map(({ name }) => name),
    storedVersions: crd?.status?.storedVersions ?? [],
    record,
    rewrite: counts ? record?.rewrite : undefined,
    isAsIn: (phase, options) => equal(rows, snapshotCrd(kind, phase, options).spec.versions),
  };
}

/** What no run has written, or nobody can read, is as good as none: every step can be derived again. */
export function recordIn(crd: Crd): MigrationRecord | undefined {
  try {
    const record: unknown = parse(crd.metadata.annotations?.[recordAnnotation] ?? "");
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

const phases: readonly unknown[] = [1, 2, 3] satisfies readonly CrdPhase[];
const versions: readonly unknown[] = ["v1", "v1beta1"] satisfies readonly Version[];
const recordedSteps: readonly unknown[] = [
  "begun",
  "apply",
  "rewrite",
  "prune",
  "finished",
] satisfies readonly MigrationRecord["step"][];

function isRecord(value: unknown): value is MigrationRecord {
  if (!isObject(value)) return false;
  const { goal, serveV1beta1, back, run, startedAt, step, rewrite, bothServedSince } = value;
  return (
    phases.includes(goal) &&
    recordedSteps.includes(step) &&
    [serveV1beta1, back].every((one) => typeof one === "boolean") &&
    [run, startedAt, bothServedSince ?? ""].every((one) => typeof one === "string") &&
    (rewrite === undefined || isRewrite(rewrite))
  );
}

const isRewrite = (value: unknown): value is Rewrite =>
  isObject(value) &&
  versions.includes(value.version) &&
  typeof value.after === "string" &&
  typeof value.generation === "number" &&
  typeof value.done === "boolean";

export const withRecord = (crd: Crd, record: MigrationRecord): Crd => ({
  ...crd,
  metadata: { ...crd.metadata, annotations: { ...crd.metadata.annotations, [recordAnnotation]: print(record) } },
});

/** The same object with this release's spec: labels and annotations of others stay. */
export function inPhase(crd: Crd, kind: SnapshotKind, phase: CrdPhase, options: CrdOptions): Crd {
  const { spec, metadata } = snapshotCrd(kind, phase, options);
  const annotations = { ...crd.metadata.annotations, ...metadata.annotations };
  return { ...crd, metadata: { ...crd.metadata, annotations }, spec } as Crd;
}
