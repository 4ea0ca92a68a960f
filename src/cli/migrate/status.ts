/** Where the CRDs are, for people and scripts; and where a rollback goes. Pure. */
import { type CrdPhase, crdNameOf } from "../../api/crds/index.ts";
import { Fault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { withCode } from "../../rules/error-codes.ts";
import type { Goal, MigrationRecord } from "./definition.ts";
import { describeStep } from "./describe.ts";
import { planOf } from "./plan.ts";
import type { Installed } from "./preflight.ts";

interface CrdStatus {
  readonly name: string;
  readonly phase: CrdPhase | undefined;
  readonly served: readonly string[];
  readonly storage: string | undefined;
  readonly storedVersions: readonly string[];
  readonly record: MigrationRecord | undefined;
}

export interface MigrationStatus {
  /** Of all CRDs; undefined while they differ, or are missing. */
  readonly phase: CrdPhase | undefined;
  readonly crds: readonly CrdStatus[];
  /** What an interrupted run has left to do. */
  readonly unfinished: readonly string[];
}

const unfinishedRecord = (installed: readonly Installed[]): MigrationRecord | undefined =>
  installed
    .flatMap(({ definition }) => definition.record ?? [])
    .filter(({ step }) => step !== "finished")
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))[0];

const goalOf = ({ goal, back, serveV1beta1 }: MigrationRecord): Goal => ({ phase: goal, back, serveV1beta1 });

export function statusOf(installed: readonly Installed[]): MigrationStatus {
  const definitions = installed.map(({ definition }) => definition);
  const phases = new Set(definitions.map(({ phase }) => phase));
  const record = unfinishedRecord(installed);
  return {
    phase: phases.size === 1 ? [...phases][0] : undefined,
    crds: definitions.map(({ kind, phase, served, storage, storedVersions, record: own }) => ({
      name: crdNameOf(kind),
      phase,
      served,
      storage,
      storedVersions,
      record: own,
    })),
    unfinished: record === undefined ? [] : planOf(definitions, goalOf(record)).map(describeStep),
  };
}

export function statusText({ phase, crds, unfinished }: MigrationStatus): string {
  const rows = [
    ["CRD", "PHASE", "SERVED", "STORAGE", "STORED VERSIONS"],
    ...crds.map((crd) => [
      crd.name,
      String(crd.phase ?? "none"),
      crd.served.join(","),
      crd.storage ?? "",
      crd.storedVersions.join(","),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2))
      .join("")
      .trimEnd(),
  );
  const left = unfinished.map((step) => `left to do: ${step}`);
  return [...lines, ...left, summaryOf(phase, crds)].map(printableLine).join("");
}

function summaryOf(phase: CrdPhase | undefined, crds: readonly CrdStatus[]): string {
  if (phase !== undefined) return `the CRDs are in phase ${phase}`;
  return crds.every((crd) => crd.phase === undefined)
    ? "the snapshot CRDs are not installed; snapkeep migrate --to-phase=3 installs them"
    : "the CRDs are in different phases, or some are missing; run the last snapkeep migrate again, or choose a phase with --to-phase";
}

/** To the phase that was given; else one phase back, and a rollback that is under way or was interrupted goes to where it was going. */
export function rollbackGoal(installed: readonly Installed[], given?: CrdPhase): Goal {
  if (installed.every(({ crd }) => crd === undefined))
    throw new Fault(
      "FailedPrecondition",
      withCode("the snapshot CRDs are not installed; there is nothing to go back from", "SNAP-605"),
    );
  if (given !== undefined) return { phase: given, back: true };
  const record = unfinishedRecord(installed);
  if (record?.back === true) return goalOf(record);
  const phase = Math.max(...installed.map(({ definition }) => definition.phase ?? 1));
  if (phase === 1)
    throw new Fault(
      "FailedPrecondition",
      withCode("the CRDs are in phase 1; there is nothing to go back to", "SNAP-605"),
    );
  return { phase: (phase - 1) as CrdPhase, back: true };
}
