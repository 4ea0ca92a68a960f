/** Durations and timestamps, counted in nanoseconds. */
import { isDate } from "../../formats.ts";
import { type Library, method, nanosOf, text } from "../functions.ts";
import { types } from "../types.ts";
import { CelFault, type Value } from "../value.ts";

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const second = 1_000_000_000n;
const piece = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy;

/** What is finer is lost in any unit. */
const fractionDigitsMax = 18;

/** Go's time.ParseDuration. */
export function parseCelDuration(value: string): bigint {
  const bad = new CelFault(`time: invalid duration ${JSON.stringify(value)}`);
  const [, sign = "", body = ""] = /^([-+]?)(.*)$/s.exec(value) ?? [];
  if (body === "0") return 0n;
  let [total, at] = [0n, 0];
  for (const match of body.matchAll(piece)) {
    const [whole, digits = "", fraction = "", unit = ""] = match;
    if (digits === "" && fraction === "") throw bad;
    const size = units[unit] ?? 0n;
    total += BigInt(digits === "" ? "0" : digits) * size;
    const fine = fraction.slice(0, fractionDigitsMax);
    total += fine === "" ? 0n : (BigInt(fine) * size) / 10n ** BigInt(fine.length);
    at += whole.length;
  }
  const nanos = sign === "-" ? -total : total;
  if (at === 0 || at < body.length || BigInt.asIntN(64, nanos) !== nanos) throw bad;
  return nanos;
}

/** CEL prints seconds, however long: "5400s". */
export function printCelDuration(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % second).toString().padStart(9, "0").replace(/0+$/, "");
  return `${nanos < 0n ? "-" : ""}${size / second}${fraction === "" ? "" : `.${fraction}`}s`;
}

const stamp = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

export function parseTimestamp(value: string): bigint {
  const parts = stamp.exec(value);
  const millis =
    parts === null || !isDate(value.slice(0, 10)) || (parts[4] ?? "") > "23"
      ? Number.NaN
      : Date.parse(`${value.slice(0, 19).replace("t", "T")}${(parts[8] ?? "Z").toUpperCase()}`);
  if (parts === null || Number.isNaN(millis))
    throw new CelFault(
      `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  const fraction = (parts[7] ?? "").slice(0, 9).padEnd(9, "0");
  return BigInt(millis) * 1_000_000n + BigInt(fraction);
}

const secondsMin = -62_135_596_800n;
const secondsMax = 253_402_300_799n;

/** From the year 1 to the year 9999: what comes out of them is no timestamp any more. */
export function withinTime(nanos: bigint): bigint {
  const seconds = floorDivide(nanos, second);
  if (seconds < secondsMin || seconds > secondsMax) throw new CelFault("timestamp overflow");
  return nanos;
}

/** As a rule may write it; the fields of an object are not held to the range. */
export const timestampFrom = (value: string): bigint => withinTime(parseTimestamp(value));

export function printTimestamp(nanos: bigint): string {
  const [millis, rest] = [floorDivide(nanos, second) * 1_000n, nanos - floorDivide(nanos, second) * second];
  const fraction = rest.toString().padStart(9, "0").replace(/0+$/, "");
  return `${new Date(Number(millis)).toISOString().slice(0, 19)}${fraction === "" ? "" : `.${fraction}`}Z`;
}

const floorDivide = (a: bigint, b: bigint): bigint => (a < 0n && a % b !== 0n ? a / b - 1n : a / b);

/** Only UTC and fixed offsets: what other zones were when is a table this server does not carry. */
function offsetOf(zone: Value | undefined): bigint {
  if (zone === undefined) return 0n;
  const name = text(zone);
  if (name === "UTC" || name === "") return 0n;
  const parts = /^([+-]?)(\d{2}):(\d{2})$/.exec(name);
  if (parts === null) throw new CelFault(`unknown time zone ${name}`);
  const minutes = BigInt(parts[2] ?? "0") * 60n + BigInt(parts[3] ?? "0");
  return (parts[1] === "-" ? -minutes : minutes) * 60n * second;
}

const dateIn = (value: Value | undefined, zone: Value | undefined): Date =>
  new Date(Number(floorDivide(nanosOf(value) + offsetOf(zone), 1_000_000n)));

const dayOfYear = (date: Date): number =>
  Math.floor(
    (Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) - Date.UTC(date.getUTCFullYear(), 0, 1)) /
      86_400_000,
  );

const { int, string, timestamp, duration } = types;
const field = (read: (date: Date) => number): readonly ReturnType<typeof method>[] => [
  method([timestamp], int, ([value]) => BigInt(read(dateIn(value, undefined)))),
  method([timestamp, string], int, ([value, zone]) => BigInt(read(dateIn(value, zone)))),
];
const span = (unit: bigint): ReturnType<typeof method> => method([duration], int, ([value]) => nanosOf(value) / unit);

export const time: Library = {
  getFullYear: field((date) => date.getUTCFullYear()),
  getMonth: field((date) => date.getUTCMonth()),
  getDayOfYear: field(dayOfYear),
  getDayOfMonth: field((date) => date.getUTCDate() - 1),
  getDate: field((date) => date.getUTCDate()),
  getDayOfWeek: field((date) => date.getUTCDay()),
  getHours: [...field((date) => date.getUTCHours()), span(3600n * second)],
  getMinutes: [...field((date) => date.getUTCMinutes()), span(60n * second)],
  getSeconds: [...field((date) => date.getUTCSeconds()), span(second)],
  getMilliseconds: [...field((date) => date.getUTCMilliseconds()), span(1_000_000n)],
};
