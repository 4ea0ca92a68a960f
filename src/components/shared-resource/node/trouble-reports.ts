/**
 * Volumes that are not as they should be, as metrics and as events of their pods.
 *
 * Memory: per such volume since when, and when its event was recorded. Lost with the process, and noticed again.
 */
import type { CodedEvent } from "../../../api/plan.ts";
import type { Millis } from "../../../base/brand.ts";
import type { World } from "../../../base/world.ts";
import { nodeLimits } from "./limits.ts";
import { type Trouble, type TroubleCause, troubleCauses } from "./plan-trouble.ts";
import type { VolumeSpec } from "./types.ts";

export interface TroubledVolume {
  readonly spec: VolumeSpec;
  readonly trouble: Trouble;
}

export interface TroubleReportsOptions {
  readonly world: Pick<World, "elapsed" | "sleep">;
  /** All volumes that are not as they should be at the moment. */
  inspect(): readonly TroubledVolume[];
  record(volume: VolumeSpec, event: CodedEvent): void;
}

export interface TroubleSummary {
  readonly count: number;
  /** The age of the oldest. */
  readonly ageMs: Millis;
}

interface Known {
  readonly cause: TroubleCause;
  readonly sinceMs: Millis;
  recordedMs: Millis;
}

export function createTroubleReports({ world, inspect, record }: TroubleReportsOptions) {
  let known = new Map<string, Known>();

  const look = (): ReadonlyMap<TroubleCause, TroubleSummary> => {
    const elapsedMs = world.elapsed();
    const found = inspect();
    known = new Map(
      found.map(({ spec, trouble: { cause } }) => {
        const before = known.get(spec.id);
        const isSame = before?.cause === cause;
        return [spec.id, isSame ? before : { cause, sinceMs: elapsedMs, recordedMs: Number.NEGATIVE_INFINITY }];
      }),
    );
    for (const { spec, trouble } of found) {
      const entry = known.get(spec.id);
      if (entry === undefined || !isEventDue(entry, elapsedMs)) continue;
      entry.recordedMs = elapsedMs;
      record(spec, { type: "Warning", reason: "SharedVolumeNotCurrent", message: trouble.message });
    }
    return summaryOf([...known.values()], elapsedMs);
  };

  return {
    look,
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        look();
        await world.sleep(nodeLimits.inspectEveryMs, signal).catch(() => undefined);
      }
    },
  };
}

const isEventDue = ({ sinceMs, recordedMs }: Known, elapsedMs: Millis): boolean =>
  elapsedMs - sinceMs >= nodeLimits.troubleEventAfterMs && elapsedMs - recordedMs >= nodeLimits.troubleEventEveryMs;

const summaryOf = (all: readonly Known[], elapsedMs: Millis): ReadonlyMap<TroubleCause, TroubleSummary> =>
  new Map(
    troubleCauses.map((cause) => {
      const ages = all.filter((one) => one.cause === cause).map(({ sinceMs }) => elapsedMs - sinceMs);
      return [cause, { count: ages.length, ageMs: Math.max(0, ...ages) }];
    }),
  );
