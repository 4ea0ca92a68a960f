/** Counts what a campaign did and found, and prints it as one table. */

import type { Finding } from "./crew.ts";
import { type Family, families, faultNamed } from "./faults/index.ts";
import type { Counter } from "./monitors/monitor.ts";
import type { Schedule } from "./run-one.ts";

const counters: readonly Counter[] = [
  "leaked snapshots",
  "lost snapshots",
  "stuck finalizers",
  "double cuts",
  "secrets seen",
];

export interface Tally {
  add(schedule: Schedule, finding: Finding): void;
  spend(cpuSeconds: number): void;
  failed(): number;
  seconds(): number;
  report(): string;
}

export function createTally(): Tally {
  const startedAt = process.hrtime.bigint();
  let cpuSeconds = 0;
  const struck = new Map<Family, number>();
  const runs = new Map<string, number>();
  const counted = new Map<Counter, number>();
  let schedules = 0;
  let failed = 0;
  let calls = 0;
  const recoveries: { readonly ms: number; readonly seed: number }[] = [];
  const bump = <K>(map: Map<K, number>, key: K): void => void map.set(key, (map.get(key) ?? 0) + 1);
  const line = (name: string, value: string | number): string => `  ${name.padEnd(28)} ${value}`;

  const seconds = (): number => Number(process.hrtime.bigint() - startedAt) / 1e9;
  return {
    seconds,
    spend: (seconds) => {
      cpuSeconds += seconds;
    },
    add({ scenario, seed }, finding) {
      schedules += 1;
      calls += finding.calls;
      recoveries.push({ ms: finding.recoveryMs, seed });
      bump(runs, scenario.name);
      for (const name of finding.struck) bump(struck, faultNamed(name).family);
      if (finding.violations.length > 0) failed += 1;
      for (const { counter } of finding.violations) if (counter !== undefined) bump(counted, counter);
    },
    failed: () => failed,
    report() {
      return [
        `${schedules} schedules, ${failed} with violations`,
        line("calls of components", calls),
        line(
          "schedules per second",
          `${(schedules / seconds()).toFixed(1)}, in ${seconds().toFixed(0)} s, all workers`,
        ),
        line("schedules per core second", `${(schedules / cpuSeconds).toFixed(1)}, of CPU time spent`),
        line("seconds from fault to rest", spreadOf(recoveries)),
        "faults that struck, by family",
        ...families.map((family) => line(family, struck.get(family) ?? 0)),
        "schedules, by scenario",
        ...[...runs].sort().map(([name, count]) => line(name, count)),
        "found",
        ...counters.map((counter) => line(counter, counted.get(counter) ?? 0)),
      ].join("\n");
    },
  };
}

/** Of the simulated clock, with the seed that took longest. */
function spreadOf(recoveries: readonly { readonly ms: number; readonly seed: number }[]): string {
  const sorted = recoveries.toSorted((a, b) => a.ms - b.ms);
  const at = (share: number): string => ((sorted[Math.floor(share * (sorted.length - 1))]?.ms ?? 0) / 1_000).toFixed(2);
  return `median ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} (seed ${sorted.at(-1)?.seed})`;
}
