/**
 * What is left to do on CRDs whose migration has not ended: by its record, or, where there is none, by what is stored. A record that does
 * not fit the CRDs any more is of no use: something else has changed them since. Pure.
 */
import type { CrdPhase } from "../../api/crds/index.ts";
import type { Definition, Goal, MigrationRecord } from "./definition.ts";

export interface Unfinished {
  readonly goal: Goal;
  /** A run has recorded it, and it can be continued. */
  readonly isRecorded: boolean;
  /** For a person. */
  readonly why: string;
  /** The command to type next. */
  readonly next: string;
}

type Seen = Pick<Definition, "phase" | "storage" | "storedVersions" | "record">;

export function unfinishedOf(definitions: readonly Seen[]): Unfinished | undefined {
  const record = latestUnfinished(definitions);
  if (record !== undefined) {
    const { goal: phase, back, serveV1beta1 } = record;
    const goal = { phase, back, serveV1beta1 };
    const why = `a ${back ? "rollback" : "migration"} to phase ${phase} has not ended`;
    return { goal, isRecorded: true, why, next: commandTo(goal) };
  }
  const phases = definitions.flatMap(({ phase }) => phase ?? []);
  if (phases.length === 0) return undefined;
  const goal = { phase: Math.max(...phases) as CrdPhase, back: false };
  const why = unsettled(definitions);
  return why === undefined ? undefined : { goal, isRecorded: false, why, next: commandTo(goal) };
}

/** What the last of the runs that have not ended was about to do. */
export const latestUnfinished = (definitions: readonly Seen[]): MigrationRecord | undefined =>
  definitions
    .flatMap((definition) => (isStale(definition) ? [] : (definition.record ?? [])))
    .filter(({ step }) => step !== "finished")
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))[0];

/** The CRD has a phase that the run of the record could not have left. */
export function isStale({ phase, record }: Pick<Seen, "phase" | "record">): boolean {
  if (record === undefined || phase === undefined) return false;
  if (record.step === "finished") return phase !== record.goal;
  return record.back ? phase < record.goal : phase > record.goal;
}

function unsettled(definitions: readonly Seen[]): string | undefined {
  if (new Set(definitions.map(({ phase }) => phase)).size > 1)
    return "the CRDs are in different phases, or some are missing";
  const other = definitions.flatMap(({ storage, storedVersions }) =>
    storedVersions.filter((version) => version !== storage),
  )[0];
  return other === undefined ? undefined : `status.storedVersions still has ${other}: objects may be stored in it`;
}

export const commandTo = ({ phase, back, serveV1beta1 }: Goal): string =>
  `snapkeep migrate${back ? " --rollback" : ""} --to-phase=${phase}${serveV1beta1 === true && !back && phase === 2 ? " --serve-v1beta1" : ""}`;
