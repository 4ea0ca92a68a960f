/** What is still under way in a schedule, and when all of it will have come to rest. */
import type { World } from "../../src/base/world.ts";

/** Nothing is under way for longer than this unless a fault holds it. */
const quietMs = 12_000;
/** The bound within which everything must have come to rest after the last fault. */
const settleMsMax = 300_000;

export interface Activity {
  /** A component wrote, or called the driver. */
  act(): void;
  /** A fault struck, or what a fault began has ended: from here on recovery is counted. */
  disturb(): void;
  /** Something may be held for so long before anybody goes on. */
  hold(ms: number): void;
  /** Something that will certainly go on: the script, a process that is to be started again. */
  begin(): void;
  end(): void;
  isAtRest(): boolean;
  /** Until it can be at rest, if nothing happens any more. */
  restMs(): number;
  /** Everybody had time enough. */
  isOverdue(): boolean;
  /** From the last fault, restart or act of the user until the components had nothing left to do. */
  recoveryMs(): number;
}

export interface Pauses {
  /** Held from the start, as by a fault. */
  readonly heldMs: number;
  /** Passes in any case before something that is still to be done is done, also after what a fault has held. */
  readonly lateMs: number;
}

export function createActivity(world: Pick<World, "elapsed">, pauses: Pauses): Activity {
  let lastActMs = 0;
  let lastFaultMs = 0;
  let { heldMs } = pauses;
  let open = 0;
  const pauseMs = (): number => quietMs + pauses.lateMs + heldMs;
  const leftMs = (): number => Math.max(lastActMs, lastFaultMs) + pauseMs() - world.elapsed();
  return {
    act: () => {
      lastActMs = world.elapsed();
    },
    disturb: () => {
      lastFaultMs = world.elapsed();
    },
    hold: (ms) => {
      heldMs = Math.max(heldMs, ms);
    },
    begin: () => {
      open += 1;
    },
    end: () => {
      open -= 1;
      lastFaultMs = world.elapsed();
    },
    isAtRest: () => leftMs() <= 0 && open === 0,
    restMs: () => Math.max(leftMs(), quietMs),
    isOverdue: () => open === 0 && world.elapsed() - lastFaultMs > settleMsMax + pauseMs(),
    recoveryMs: () => Math.max(0, lastActMs - lastFaultMs),
  };
}
