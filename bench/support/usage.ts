/** What a process has used, as the kernel counts it. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

export interface Usage {
  readonly cpuSeconds: number;
  readonly rssMib: number;
}

/** A tick is this part of a second; the kernel's unit for processor time is fixed since Linux 2.6. */
const ticksPerSecond = 100;

export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in brackets and may hold anything, also brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // With those of children that have ended: a driver's work may be done by programs it runs.
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { cpuSeconds: ticks / ticksPerSecond, rssMib: Number(rss?.[1] ?? 0) / 1024 };
}

/** Resident memory, of which pages that n processes share count as an nth each. */
export const pssMibOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1024;

/** Processor time by program of every process whose command line names the folder. */
export const cpuByProgram = (folder: string): ReadonlyMap<string, number> =>
  sumByProgram(folder, ({ cpuSeconds }) => cpuSeconds);

/** Adds up every process whose command line names the folder. */
export const usageIn = (folder: string): Usage => ({
  cpuSeconds: total(cpuByProgram(folder)),
  rssMib: total(sumByProgram(folder, ({ rssMib }) => rssMib)),
});
export const total = (sums: ReadonlyMap<string, number>): number =>
  [...sums.values()].reduce((sum, one) => sum + one, 0);

function sumByProgram(folder: string, figure: (usage: Usage) => number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (!args.some((arg) => arg.includes(folder))) continue;
      const name = basename(program);
      sums.set(name, (sums.get(name) ?? 0) + figure(usageOf(Number(pid))));
    } catch {
      // It has ended between two looks.
    }
  }
  return sums;
}
