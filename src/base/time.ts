/** Times as the API server writes them. Pure conversions: the clock itself is in world.ts. */
import type { Millis } from "./brand.ts";

/** RFC 3339 at whole seconds, as metav1.Time: "2026-01-02T03:04:05Z". */
export function rfc3339(ms: Millis): string {
  const second = Math.floor(ms / 1_000);
  if (second !== reported.second) reported = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` };
  return reported.text;
}
/** Much of what is dated is dated in the same second, and a date takes longer to print than a small object. */
let reported = { second: Number.NaN, text: "" };

/** RFC 3339 with exactly six fraction digits, as metav1.MicroTime. */
export const microTime = (ms: Millis): string => `${new Date(ms).toISOString().slice(0, 23)}000Z`;

/** Undefined: there is no time, or what is there is none. Others write statuses too. */
export function millisOf(text: string | undefined): Millis | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
