/** Mounts and loop devices of the system the driver runs on. Tests give it another one, which needs no root. */
import { createLoops, type Loops } from "./loops.ts";
import { createMounts, type Mounts, mountTable } from "./mounts.ts";
import { runProgram } from "./program.ts";

/** A tree of files, or one file that is used as a block device. */
export type Mode = "mount" | "block";

export interface Mounting extends Omit<Mounts, "bindsOf">, Omit<Loops, "loopBindsOf"> {
  /** Where a folder or an image is in use. The mount table is the truth: it outlives every process, and goes with a reboot. */
  usesOf(data: string, mode: Mode): Promise<readonly string[]>;
}

export function createMounting(run = runProgram, table = () => mountTable()): Mounting {
  const { bindsOf, ...mounts } = createMounts(run, table);
  const { loopBindsOf, ...loops } = createLoops(run, { bindsOf });
  return {
    ...mounts,
    ...loops,
    usesOf: async (data, mode) => (await (mode === "block" ? loopBindsOf(data) : bindsOf(data))).map(({ at }) => at),
  };
}
