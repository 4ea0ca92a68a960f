import type { Millis } from "../base/brand.ts";

/** Doubles with every failure up to a bound; half of it is drawn by lot, so that many clients do not come back as one. */
export const backoffMs = (
  failures: number,
  random: number,
  bounds: { readonly msMin: Millis; readonly msMax: Millis },
): Millis => Math.min(bounds.msMax, bounds.msMin * 2 ** Math.min(failures, 30)) * (0.5 + random / 2);
