/** How kubectl shows a span of time: "5s", "2m30s", "3h", "4d12h", "2y". */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const two = (value: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;
const whole = (ms: number, unit: number): number => Math.floor(ms / unit);

export function humanSpan(ms: number): string {
  if (ms <= -2 * second) return "<invalid>";
  if (ms < 0) return "0s";
  if (ms < 2 * minute) return `${whole(ms, second)}s`;
  if (ms < 10 * minute) return two(whole(ms, minute), "m", whole(ms % minute, second), "s");
  if (ms < 3 * hour) return `${whole(ms, minute)}m`;
  if (ms < 8 * hour) return two(whole(ms, hour), "h", whole(ms % hour, minute), "m");
  if (ms < 2 * day) return `${whole(ms, hour)}h`;
  if (ms < 8 * day) return two(whole(ms, day), "d", whole(ms % day, hour), "h");
  if (ms < 2 * year) return `${whole(ms, day)}d`;
  if (ms < 8 * year) return two(whole(ms, year), "y", whole(ms % year, day), "d");
  return `${whole(ms, year)}y`;
}

/** The age of something that began at an RFC 3339 time; "<unknown>" without one. */
export function ageSince(time: unknown, now: number): string {
  const since = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(since) ? "<unknown>" : humanSpan(now - since);
}
