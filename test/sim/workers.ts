/** Schedules judged by several processes at once: one per core, each with a world of its own. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { judged } from "./campaign.ts";
import type { PlannedFault } from "./faults/index.ts";
import type { Violation } from "./monitors/index.ts";
import type { Schedule } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

/** A schedule as it can be sent to another process: without sabotage, which is a function. */
export interface Job {
  readonly scenario: string;
  readonly seed: number;
  readonly faults: readonly PlannedFault[];
}

/** What is left of an outcome when its history is forgotten: a failing seed is run again for that. */
export interface Finding {
  readonly calls: number;
  readonly recoveryMs: number;
  readonly struck: readonly string[];
  readonly reported: number;
  readonly violations: readonly Violation[];
}

export interface Report {
  readonly findings: readonly Finding[];
  readonly cpuSeconds: number;
}

const jobsInBatch = 50;
/**
 * Nothing of a schedule outlives it: the later it is collected, the less of it is copied. The engine must not take the long-lived
 * parts of a schedule for immortal: what it puts among the old ones keeps the rest of a finished schedule alive. One thread, as
 * each has a core. Code for one engine less is made, and the caches hold more of what is left.
 */
const forShortLives = [
  "--min-semi-space-size=32",
  "--max-semi-space-size=32",
  "--no-allocation-site-pretenuring",
  "--single-threaded-gc",
  "--no-maglev",
  "--always-sparkplug",
];

/** In this process. */
export async function judgeBatch(schedules: readonly Schedule[]): Promise<Report> {
  const before = process.cpuUsage();
  const findings: Finding[] = [];
  for (const schedule of schedules) {
    const { boundaries, recoveryMs, struck, reported, violations } = await judged(schedule);
    findings.push({ calls: boundaries.length, recoveryMs, struck, reported, violations });
  }
  const { user, system } = process.cpuUsage(before);
  return { findings, cpuSeconds: (user + system) / 1e6 };
}

export interface Assignment {
  readonly schedules: AsyncGenerator<Schedule>;
  /** False ends it: what is under way is finished and dropped. */
  take(schedule: Schedule, finding: Finding): Promise<boolean> | boolean;
  spend?(cpuSeconds: number): void;
}

export interface WorkerPool {
  /** One assignment after the other: the second finds them warm. */
  judge(assignment: Assignment): Promise<void>;
  dismiss(): void;
}

/** So many other processes; 0: this one alone. */
export function createWorkerPool(size: number): WorkerPool {
  const execArgv = [...process.execArgv, ...forShortLives];
  const workers = Array.from({ length: size }, () => fork(new URL("worker.ts", import.meta.url), { execArgv }));
  const judges =
    size === 0 ? [judgeBatch] : workers.map((worker) => (batch: readonly Schedule[]) => judgedBy(worker, batch));
  return {
    judge: (assignment) => judgeAll(judges, assignment),
    dismiss: () => {
      for (const worker of workers) worker.kill();
    },
  };
}

type Judge = (schedules: readonly Schedule[]) => Promise<Report>;

async function judgeAll(
  judges: readonly Judge[],
  { schedules, take, spend = () => undefined }: Assignment,
): Promise<void> {
  let isOver = false;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: the schedules are made as they are asked for. */
  const nextBatch = (): Promise<readonly Schedule[]> => {
    const batch = last.then(async () => {
      const made: Schedule[] = [];
      while (made.length < jobsInBatch && !isOver) {
        const next = await schedules.next();
        if (next.done === true) break;
        made.push(next.value);
      }
      return made;
    });
    last = batch;
    return batch;
  };
  const serve = async (judge: Judge): Promise<void> => {
    for (let batch = await nextBatch(); batch.length > 0; batch = await nextBatch()) {
      const { findings, cpuSeconds } = await judge(batch);
      spend(cpuSeconds);
      for (const [index, finding] of findings.entries()) {
        const schedule = batch[index];
        if (schedule !== undefined && !isOver && !(await take(schedule, finding))) isOver = true;
      }
    }
  };
  await Promise.all(judges.map(serve));
}

const jobOf = ({ scenario, seed, faults }: Schedule): Job => ({ scenario: scenario.name, seed, faults });
export const scheduleFrom = ({ scenario, seed, faults }: Job): Schedule => ({
  scenario: scenarioNamed(scenario),
  seed,
  faults,
});

async function judgedBy(worker: ChildProcess, schedules: readonly Schedule[]): Promise<Report> {
  const ended = new AbortController();
  const signal = ended.signal;
  try {
    const answer = once(worker, "message", { signal });
    const end = once(worker, "exit", { signal }).then(([code]) => {
      throw new Error(`a worker of the simulation ended with code ${code}`);
    });
    worker.send(schedules.map(jobOf));
    const [report] = await Promise.race([answer, end]);
    return report as Report;
  } finally {
    ended.abort("answered");
  }
}
