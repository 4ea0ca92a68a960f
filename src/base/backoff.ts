import type { Millis } from "./brand.ts";

export interface Backoff {
  readonly startMs: Millis;
  readonly maxMs: Millis;
}

/** Doubles with every failure up to a bound; half of it is drawn by lot, so that those who failed together do not return together. */
export const backoffMs = ({ startMs, maxMs }: Backoff, failures: number, random: number): Millis =>
  Math.min(maxMs, startMs * 2 ** Math.min(failures, 40)) * (0.5 + random / 2);
