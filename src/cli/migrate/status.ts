/** Where the CRDs are, for people and scripts; and where a rollback goes. Pure. */
import { type CrdPhase, crdNameOf } from "../../api/crds/index.ts";
import { Fault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { withCode } from "../../errors/codes.ts";
import type { Goal, MigrationRecord } from "./definition.ts";
import { describeStep } from "./describe.ts";
import { planOf } from "./plan.ts";
import type { Installed } from "./preflight.ts";
import { isStale, latestUnfinished, unfinishedOf } from "./unfinished.ts";

interface CrdStatus {
  readonly name: string;
  readonly phase: CrdPhase | undefined;
  readonly served: readonly string[];
  readonly storage: string | undefined;
  readonly storedVersions: readonly string[];
  readonly record: MigrationRecord | undefined;
}

export interface MigrationStatus {
  /** The phase of all CRDs; undefined while they differ, or are missing. */
  readonly phase: CrdPhase | undefined;
  readonly crds: readonly CrdStatus[];
  /** What an interrupted run has left to do, or what nobody has done for objects that are stored in another version. */
  readonly unfinished: readonly string[];
  /** Why something is left to do, and the command for it. */
  readonly why?: string;
  readonly next?: string;
  /** CRDs that something else than the recorded run has changed since. */
  readonly changed: readonly string[];
}

export function statusOf(installed: readonly Installed[]): MigrationStatus {
  const definitions = installed.map(({ definition }) => definition);
  const phases = new Set(definitions.map(({ phase }) => phase));
  const unfinished = unfinishedOf(definitions);
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
    unfinished: unfinished === undefined ? [] : planOf(definitions, unfinished.goal).map(describeStep),
    ...(unfinished && { why: unfinished.why, next: unfinished.next }),
    changed: definitions.filter(isStale).map(({ kind }) => crdNameOf(kind)),
  };
}

export function statusText({ phase, crds, unfinished, why, next, changed }: MigrationStatus): string {
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
  const records = changed.map((name) => `${name} was changed by something else after the last migration`);
  const left = unfinished.map((step) => `left to do: ${step}`);
  const summary = next === undefined ? summaryOf(phase) : `${why}; next: ${next}`;
  return [...lines, ...records, ...left, summary].map(printableLine).join("");
}

const summaryOf = (phase: CrdPhase | undefined): string =>
  phase === undefined
    ? "the snapshot CRDs are not installed; snapkeep migrate --to-phase=3 installs them"
    : `the CRDs are in phase ${phase}`;

/** To the phase that was given; else one phase back, and a rollback that is under way or was interrupted goes to where it was going. */
export function rollbackGoal(installed: readonly Installed[], given?: CrdPhase): Goal {
  if (installed.every(({ crd }) => crd === undefined))
    throw new Fault(
      "FailedPrecondition",
      withCode("the snapshot CRDs are not installed; there is nothing to go back from", "SNAP-605"),
    );
  if (given !== undefined) return { phase: given, back: true };
  const record = latestUnfinished(installed.map(({ definition }) => definition));
  if (record?.back === true) return { phase: record.goal, back: true, serveV1beta1: record.serveV1beta1 };
  const phase = Math.max(...installed.map(({ definition }) => definition.phase ?? 1));
  if (phase === 1)
    throw new Fault(
      "FailedPrecondition",
      withCode("the CRDs are in phase 1; there is nothing to go back to", "SNAP-605"),
    );
  return { phase: (phase - 1) as CrdPhase, back: true };
}
