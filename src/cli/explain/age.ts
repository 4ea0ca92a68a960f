/** How long ago a stored date is, as people say it: seconds, then minutes, hours and days. */
import type { Millis } from "../../base/brand.ts";
import { printDuration } from "../../base/duration.ts";

const dayMs = 86_400_000;

export function ageText(sinceMs: Millis, nowMs: Millis): string {
  const ageMs = Math.max(0, ageOf(sinceMs, nowMs));
  if (ageMs >= 2 * dayMs) return `${Math.floor(ageMs / dayMs)}d`;
  const unitMs = ageMs >= 3_600_000 ? 60_000 : 1_000;
  return printDuration(Math.floor(ageMs / unitMs) * unitMs);
}

/** Both are dates: one that an object tells, and when the cluster was read. */
export const ageOf = (sinceMs: Millis, lookedMs: Millis): Millis => lookedMs - sinceMs;
