/** Counts what a campaign did and found, and prints it as one table. */

import { quantile } from "../quantile.ts";
import { families, faultNamed } from "./faults/index.ts";
import type { Counter } from "./monitors/monitor.ts";
import type { Schedule } from "./run-one.ts";
import type { Finding } from "./workers.ts";

const counters: readonly Counter[] = [
  "leaked snapshots",
  "lost snapshots",
  "stuck finalizers",
  "snapshots taken twice",
  "leaked volumes",
  "lost volumes",
  "volumes made twice",
  "secrets seen",
];

export interface CampaignResult {
  readonly schedules: number;
  readonly failed: number;
  readonly calls: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** From the last fault to rest, by the simulated clock, and the seed that took longest. */
  readonly recovery: Readonly<Record<"median" | "p99" | "max" | "slowestSeed", number>>;
  /** How many struck in one schedule. */
  readonly faults: Readonly<Record<"min" | "median" | "max", number>>;
  readonly faultsByFamily: Readonly<Record<string, number>>;
  readonly schedulesByScenario: Readonly<Record<string, number>>;
  readonly found: Readonly<Record<string, number>>;
  /** Volumes whose PersistentVolume may have been retained: not deleted, and not leaked. */
  readonly reported: number;
}

export interface Tally {
  add(schedule: Schedule, finding: Finding): void;
  spend(cpuSeconds: number): void;
  /** Cheap enough to be asked after every schedule. */
  soFar(): Pick<CampaignResult, "schedules" | "failed" | "seconds">;
  result(): CampaignResult;
}

interface Recovery {
  readonly ms: number;
  readonly seed: number;
}

export function createTally(): Tally {
  const startedAt = performance.now();
  let cpuSeconds = 0;
  const struck = new Map<string, number>(families.map((family) => [family, 0]));
  const runs = new Map<string, number>();
  const found = new Map<string, number>(counters.map((counter) => [counter, 0]));
  let schedules = 0;
  let failed = 0;
  let calls = 0;
  let reported = 0;
  const recoveries: Recovery[] = [];
  const faultCounts: number[] = [];
  const soFar = () => ({ schedules, failed, seconds: (performance.now() - startedAt) / 1_000 });
  const bump = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);
  return {
    spend: (seconds) => {
      cpuSeconds += seconds;
    },
    add({ scenario, seed }, finding) {
      schedules += 1;
      calls += finding.calls;
      reported += finding.reported;
      recoveries.push({ ms: finding.recoveryMs, seed });
      faultCounts.push(finding.struck.length);
      bump(runs, scenario.name);
      for (const name of finding.struck) bump(struck, faultNamed(name).family);
      if (finding.violations.length > 0) failed += 1;
      for (const { counter } of finding.violations) if (counter !== undefined) bump(found, counter);
    },
    soFar,
    result: () => ({
      ...soFar(),
      calls,
      cpuSeconds,
      recovery: recoveryIn(recoveries),
      faults: countsIn(faultCounts),
      faultsByFamily: Object.fromEntries(struck),
      schedulesByScenario: Object.fromEntries([...runs].sort()),
      found: Object.fromEntries(found),
      reported,
    }),
  };
}

function recoveryIn(recoveries: readonly Recovery[]): CampaignResult["recovery"] {
  const seconds = recoveries.map(({ ms }) => ms / 1_000);
  const [median, p99, max] = [quantile(seconds, 0.5), quantile(seconds, 0.99), quantile(seconds, 1)];
  return { median, p99, max, slowestSeed: recoveries.findLast(({ ms }) => ms / 1_000 === max)?.seed ?? 0 };
}

const countsIn = (counts: readonly number[]): CampaignResult["faults"] => ({
  min: quantile(counts, 0),
  median: quantile(counts, 0.5),
  max: quantile(counts, 1),
});

const line = (name: string, value: string | number): string => `  ${name.padEnd(28)} ${value}`;
const lines = (table: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(table).map(([name, count]) => line(name, count));

export function printed(result: CampaignResult): string {
  const { schedules, failed, calls, seconds, cpuSeconds, recovery, faults } = result;
  const rest = (["median", "p99", "max"] as const).map((figure) => `${figure} ${recovery[figure].toFixed(2)}`);
  return [
    `${schedules} schedules, ${failed} with violations`,
    line("calls of components", calls),
    line("schedules per second", `${(schedules / seconds).toFixed(1)}, in ${seconds.toFixed(0)} s, all workers`),
    line("schedules per core second", `${(schedules / cpuSeconds).toFixed(1)}, of CPU time spent`),
    line("seconds from fault to rest", `${rest.join(", ")} (seed ${recovery.slowestSeed})`),
    line("faults in a schedule", `min ${faults.min}, median ${faults.median}, max ${faults.max}, of those that struck`),
    "faults that struck, by family",
    ...lines(result.faultsByFamily),
    "schedules, by scenario",
    ...lines(result.schedulesByScenario),
    "found",
    ...lines(result.found),
    line("volumes reported, not deleted", result.reported),
  ].join("\n");
}
