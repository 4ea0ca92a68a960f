/** Bounds for the log: for what would be said a thousand times over, and for lines that all differ. */
import type { Millis } from "../base/brand.ts";
import type { World } from "../base/world.ts";

/** Says a thing at most once in a while, with how often it was left unsaid. */
export type LogThrottle = (say: (unsaid: number) => void) => void;

export function createLogThrottle(world: Pick<World, "elapsed">, everyMs: Millis): LogThrottle {
  let saidAt = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (say) => {
    if (world.elapsed() - saidAt < everyMs) {
      unsaid += 1;
      return;
    }
    saidAt = world.elapsed();
    say(unsaid);
    unsaid = 0;
  };
}

/** So many lines in each window of `everyMs`. */
export interface LineBudget {
  /** False: there is none left until the window ends. */
  spend(): boolean;
}

export function createLineBudget(world: Pick<World, "elapsed">, linesMax: number, everyMs: Millis): LineBudget {
  let startedAt = Number.NEGATIVE_INFINITY;
  let spent = 0;
  return {
    spend() {
      if (world.elapsed() - startedAt >= everyMs) {
        startedAt = world.elapsed();
        spent = 0;
      }
      if (spent >= linesMax) return false;
      spent += 1;
      return true;
    },
  };
}
