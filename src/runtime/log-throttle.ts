/** For what would be said a thousand times over: it is said at most once in a while, with how often it was left unsaid. */
import type { Millis } from "../base/brand.ts";
import type { World } from "../base/world.ts";

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
