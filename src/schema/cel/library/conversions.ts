/** From one type to another, and the optional values. */
import { goFloat } from "../../go-text.ts";
import { fn, type Library, list, method, nanosOf, text } from "../functions.ts";
import { A, listOf, mapOf, optionalOf, typeOf, types } from "../types.ts";
import {
  CelFault,
  duration,
  isList,
  isMap,
  isTagged,
  itemsOf,
  listFrom,
  none,
  numberOf,
  some,
  timestamp,
  typeNameOf,
  typeValue,
  type Value,
} from "../value.ts";
import { asInt, asUint } from "./operators.ts";
import { parseCelDuration, printCelDuration, printTimestamp, timestampFrom, withinTime } from "./time.ts";

const { bool, int, uint, double, string, bytes, timestamp: timestampType, duration: durationType, dyn } = types;

function wholeOf(value: Value | undefined): bigint {
  const number = numberOf(value ?? null);
  if (typeof number === "bigint") return number;
  // Go refuses the lowest whole number, too: a double that is not quite so low is rounded to it.
  if (number === undefined || !Number.isFinite(number) || number <= -(2 ** 63)) throw new CelFault("integer overflow");
  return BigInt(Math.trunc(number));
}

function parsedInt(value: string): bigint {
  if (!/^[-+]?\d+$/.test(value))
    throw new CelFault(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return asInt(BigInt(value.replace(/^\+/, "")));
}

function parsedUint(value: string): Value {
  if (!/^\d+$/.test(value)) throw new CelFault(`strconv.ParseUint: parsing ${JSON.stringify(value)}: invalid syntax`);
  return asUint(BigInt(value));
}

const decimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

function parsedDouble(value: string): number {
  const [, sign, word] = /^([-+]?)(inf|infinity|nan)$/i.exec(value) ?? [];
  if (word?.toLowerCase() === "nan" && sign === "") return Number.NaN;
  if (word?.toLowerCase().startsWith("inf")) return sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const bad = (why: string): CelFault => new CelFault(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: ${why}`);
  if (!decimal.test(value)) throw bad("invalid syntax");
  const number = Number(value);
  if (!Number.isFinite(number)) throw bad("value out of range");
  return number;
}

const truths: Readonly<Record<string, boolean>> = { "1": true, t: true, T: true, TRUE: true, true: true, True: true };
const untruths: Readonly<Record<string, boolean>> = {
  "0": true,
  f: true,
  F: true,
  FALSE: true,
  false: true,
  False: true,
};

function parsedBool(value: string): boolean {
  if (truths[value] === true) return true;
  if (untruths[value] === true) return false;
  throw new CelFault(`strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`);
}

function utf8(value: Value | undefined): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(value as Uint8Array);
  } catch {
    throw new CelFault("invalid UTF-8 in bytes, cannot convert to string");
  }
}

const optional = (value: Value | undefined): Value | undefined => {
  if (value === undefined || !isTagged(value) || value.kind !== "optional") throw new CelFault("no such overload");
  return value.value;
};

function isZero(value: Value): boolean {
  if (isList(value) || isMap(value)) return value.size === 0;
  const number = numberOf(value);
  if (number !== undefined) return Number(number) === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (isTagged(value) && value.kind === "duration") return value.nanos === 0n;
  return value === null || value === false || value === "";
}

/** Only those that have a value. */
const unwrapped = ([values]: readonly Value[]): Value =>
  listFrom(
    itemsOf(list(values)).flatMap((item) => {
      const value = optional(item);
      return value === undefined ? [] : [value];
    }),
  );

const identity = ([value]: readonly Value[]): Value => value ?? null;

export const conversions: Library = {
  int: [
    fn([int], int, identity),
    fn([uint], int, ([value]) => asInt(wholeOf(value))),
    fn([double], int, ([value]) => asInt(wholeOf(value))),
    fn([string], int, ([value]) => parsedInt(text(value))),
    fn([timestampType], int, ([value]) => nanosOf(value) / 1_000_000_000n),
    fn([durationType], int, ([value]) => nanosOf(value)),
  ],
  uint: [
    fn([uint], uint, identity),
    fn([int], uint, ([value]) => asUint(wholeOf(value))),
    fn([double], uint, ([value]) => asUint(wholeOf(value))),
    fn([string], uint, ([value]) => parsedUint(text(value))),
  ],
  double: [
    fn([double], double, identity),
    fn([int], double, ([value]) => Number(wholeOf(value))),
    fn([uint], double, ([value]) => Number(wholeOf(value))),
    fn([string], double, ([value]) => parsedDouble(text(value))),
  ],
  bool: [fn([bool], bool, identity), fn([string], bool, ([value]) => parsedBool(text(value)))],
  string: [
    fn([string], string, identity),
    fn([bool], string, ([value]) => String(value)),
    fn([int], string, ([value]) => String(value)),
    fn([uint], string, ([value]) => String(wholeOf(value))),
    fn([double], string, ([value]) => goFloat(Number(value))),
    fn([bytes], string, ([value]) => utf8(value)),
    fn([timestampType], string, ([value]) => printTimestamp(nanosOf(value))),
    fn([durationType], string, ([value]) => printCelDuration(nanosOf(value))),
  ],
  bytes: [fn([bytes], bytes, identity), fn([string], bytes, ([value]) => Uint8Array.from(Buffer.from(text(value))))],
  duration: [
    fn([durationType], durationType, identity),
    fn([string], durationType, ([value]) => duration(parseCelDuration(text(value)))),
    fn([int], durationType, ([value]) => duration(wholeOf(value))),
  ],
  timestamp: [
    fn([timestampType], timestampType, identity),
    fn([string], timestampType, ([value]) => timestamp(timestampFrom(text(value)))),
    fn([int], timestampType, ([value]) => timestamp(withinTime(wholeOf(value) * 1_000_000_000n))),
  ],
  dyn: [fn([A], dyn, identity)],
  type: [fn([A], typeOf(A), ([value]) => typeValue(typeNameOf(value ?? null)))],
  "optional.of": [fn([A], optionalOf(A), ([value]) => some(value ?? null))],
  "optional.ofNonZeroValue": [fn([A], optionalOf(A), ([value = null]) => (isZero(value) ? none : some(value)))],
  "optional.none": [fn([], optionalOf(A), () => none)],
  "optional.unwrap": [fn([listOf(optionalOf(A))], listOf(A), unwrapped)],
  unwrapOpt: [method([listOf(optionalOf(A))], listOf(A), unwrapped)],
  hasValue: [method([optionalOf(A)], bool, ([value]) => optional(value) !== undefined)],
  value: [
    method([optionalOf(A)], A, ([value]) => {
      const inner = optional(value);
      if (inner === undefined) throw new CelFault("optional.none() dereference");
      return inner;
    }),
  ],
  or: [
    method([optionalOf(A), optionalOf(A)], optionalOf(A), ([value, other]) =>
      optional(value) === undefined ? (other ?? none) : (value ?? none),
    ),
  ],
  orValue: [method([optionalOf(A), A], A, ([value, other]) => optional(value) ?? other ?? null)],
};

/** Names that stand for types: `type(x) == string`. */
export const typeNames: ReadonlyMap<string, { readonly type: Parameters<typeof typeOf>[0]; readonly name: string }> =
  new Map(
    Object.entries({
      bool: { type: bool, name: "bool" },
      int: { type: int, name: "int" },
      uint: { type: uint, name: "uint" },
      double: { type: double, name: "double" },
      string: { type: string, name: "string" },
      bytes: { type: bytes, name: "bytes" },
      list: { type: listOf(dyn), name: "list" },
      map: { type: mapOf(dyn, dyn), name: "map" },
      null_type: { type: types.null, name: "null_type" },
      type: { type: undefined, name: "type" },
      optional_type: { type: optionalOf(dyn), name: "optional_type" },
      "google.protobuf.Timestamp": { type: timestampType, name: "google.protobuf.Timestamp" },
      "google.protobuf.Duration": { type: durationType, name: "google.protobuf.Duration" },
    }),
  );
