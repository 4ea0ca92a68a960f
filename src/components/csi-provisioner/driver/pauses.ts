/** For how long a volume is left alone, each time longer, until it is forgotten. Memory: a date for each of the last names. */
import { type Backoff, backoffMs } from "../../../base/backoff.ts";
import type { Millis } from "../../../base/brand.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import type { VolumeName } from "../identity.ts";

export interface Pauses {
  /** Returns for how long. */
  lengthen(name: VolumeName): Millis;
  /** Undefined: there was no pause. */
  leftMs(name: VolumeName): Millis | undefined;
  forget(name: VolumeName): void;
}

export function createPauses(world: Pick<World, "elapsed" | "random">, backoff: Backoff, volumesMax: number): Pauses {
  const pauses = createLru<{ readonly times: number; readonly untilMs: Millis }>(volumesMax);
  return {
    lengthen: (name) => {
      const times = pauses.get(name)?.times ?? 0;
      const ms = backoffMs(backoff, times, world.random());
      pauses.set(name, { times: times + 1, untilMs: world.elapsed() + ms });
      return ms;
    },
    leftMs: (name) => {
      const untilMs = pauses.get(name)?.untilMs;
      return untilMs === undefined ? undefined : Math.max(untilMs - world.elapsed(), 0);
    },
    forget: (name) => pauses.delete(name),
  };
}
