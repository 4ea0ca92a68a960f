/** Counts what a campaign did and found, and prints it as one table. */
import { type Family, families, faultNamed } from "./faults/index.ts";
import type { Counter } from "./monitors/monitor.ts";
import type { Outcome, Schedule } from "./run-one.ts";

const counters: readonly Counter[] = [
  "leaked snapshots",
  "lost snapshots",
  "stuck finalizers",
  "double cuts",
  "secrets seen",
];

export interface Tally {
  add(schedule: Schedule, outcome: Outcome): void;
  failed(): number;
  seconds(): number;
  report(): string;
}

export function createTally(): Tally {
  const startedAt = process.hrtime.bigint();
  const cpuAtStart = process.cpuUsage();
  const struck = new Map<Family, number>();
  const runs = new Map<string, number>();
  const counted = new Map<Counter, number>();
  let schedules = 0;
  let failed = 0;
  let calls = 0;
  const bump = <K>(map: Map<K, number>, key: K): void => void map.set(key, (map.get(key) ?? 0) + 1);
  const line = (name: string, value: string | number): string => `  ${name.padEnd(28)} ${value}`;

  const seconds = (): number => Number(process.hrtime.bigint() - startedAt) / 1e9;
  return {
    seconds,
    add({ scenario }, outcome) {
      schedules += 1;
      calls += outcome.boundaries.length;
      bump(runs, scenario.name);
      for (const name of outcome.struck) bump(struck, faultNamed(name).family);
      if (outcome.violations.length > 0) failed += 1;
      for (const { counter } of outcome.violations) if (counter !== undefined) bump(counted, counter);
    },
    failed: () => failed,
    report() {
      const { user, system } = process.cpuUsage(cpuAtStart);
      const cpuSeconds = (user + system) / 1e6;
      return [
        `${schedules} schedules, ${failed} with violations`,
        line("calls of components", calls),
        line("schedules per second", (schedules / seconds()).toFixed(1)),
        line("schedules per CPU second", (schedules / cpuSeconds).toFixed(1)),
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
