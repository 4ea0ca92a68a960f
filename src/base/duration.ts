/** Durations as Go programs write them: "1m30s", "500ms", "0". Read and printed exactly to the nanosecond a flag can hold. */
import type { Millis } from "./brand.ts";

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds, or undefined when the text is not a duration. */
export function parseDuration(text: string): Millis | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0;
  let total = 0;
  let at = 0;
  while (at < unsigned.length) {
    part.lastIndex = at;
    const found = part.exec(unsigned);
    if (found === null) return undefined;
    total += Number(found[1]) * (unitMs[found[2] ?? ""] ?? Number.NaN);
    at = part.lastIndex;
  }
  return at === 0 ? undefined : sign * toNanoseconds(total);
}

/** Sums of decimal fractions carry an error far below a nanosecond: 8.091 s shall be 8091 ms. */
const toNanoseconds = (ms: number): number => Math.round(ms * 1e6) / 1e6;

/** "1m30s", without the zero parts Go adds ("15m0s"): what people write is what they read. */
export function printDuration(ms: Millis): string {
  if (ms === 0) return "0s";
  if (ms < 0) return `-${printDuration(-ms)}`;
  if (ms < 1_000) return `${trimmed(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1_000;
  return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${minutes}m` : ""}${seconds > 0 ? `${trimmed(seconds)}s` : ""}`;
}

const trimmed = (value: number): string => String(Number(value.toFixed(6)));
