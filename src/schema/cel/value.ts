/** Values while a rule is evaluated: an int is a bigint, a double a number, everything else says what it is. */
import { equal, type JsonObject } from "../../base/json.ts";

export interface ListValue {
  readonly kind: "list";
  readonly size: number;
  at(position: number): Value;
  /** Where the schema says set or map, order does not matter and entries are told apart by these. */
  readonly identity?: (item: Value) => Value;
}

export interface MapValue {
  readonly kind: "map";
  readonly size: number;
  keys(): readonly Value[];
  /** undefined when there is no such key. */
  get(key: Value): Value | undefined;
  /** What the schema does not describe and keeps all the same: rules cannot see it, equality does. */
  readonly unseen?: JsonObject;
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | { readonly kind: "uint"; readonly value: bigint }
  | ListValue
  | MapValue
  | { readonly kind: "timestamp" | "duration"; readonly nanos: bigint }
  | { readonly kind: "optional"; readonly value: Value | undefined }
  | { readonly kind: "type"; readonly name: string }
  /** Kubernetes' own: compared by `data`. */
  | { readonly kind: "opaque"; readonly type: string; readonly data: unknown };

/** What a rule may not do with its values; ends the evaluation unless && or || can do without. */
export class CelFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CelFault";
  }
}

export const listFrom = (items: readonly Value[]): ListValue => ({
  kind: "list",
  size: items.length,
  at: (position) => items[position] ?? null,
});

export const itemsOf = (list: ListValue): Value[] => Array.from({ length: list.size }, (_, index) => list.at(index));

/** Keys are compared by value: 1 and 1u and 1.0 are one key. */
export function mapFrom(entries: readonly (readonly [Value, Value])[]): MapValue {
  const byKey = new Map(entries.map(([key, value]) => [keyText(key), { key, value }] as const));
  return {
    kind: "map",
    size: byKey.size,
    keys: () => [...byKey.values()].map(({ key }) => key),
    get: (key) => byKey.get(keyText(key))?.value,
  };
}

const keyText = (key: Value): string => {
  const number = numberOf(key);
  return number === undefined ? `${typeNameOf(key)}:${String(key)}` : `number:${number}`;
};

export const uint = (value: bigint): Value => ({ kind: "uint", value });
export const timestamp = (nanos: bigint): Value => ({ kind: "timestamp", nanos });
export const duration = (nanos: bigint): Value => ({ kind: "duration", nanos });
export const some = (value: Value): Value => ({ kind: "optional", value });
export const none: Value = { kind: "optional", value: undefined };
export const typeValue = (name: string): Value => ({ kind: "type", name });
export const opaque = (type: string, data: unknown): Value => ({ kind: "opaque", type, data });

type Tagged = Exclude<Value, null | boolean | bigint | number | string | Uint8Array>;
export const isTagged = (value: Value): value is Tagged =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array);
export const isList = (value: Value): value is ListValue => isTagged(value) && value.kind === "list";
export const isMap = (value: Value): value is MapValue => isTagged(value) && value.kind === "map";

const tagNames: Readonly<Record<string, string>> = {
  uint: "uint",
  list: "list",
  map: "map",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
  type: "type",
};

/** As type() names it. */
export function typeNameOf(value: Value): string {
  if (value === null) return "null_type";
  if (value instanceof Uint8Array) return "bytes";
  if (isTagged(value)) return value.kind === "opaque" ? value.type : (tagNames[value.kind] ?? value.kind);
  if (typeof value === "bigint") return "int";
  return typeof value === "boolean" ? "bool" : typeof value === "number" ? "double" : "string";
}

export function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return isTagged(value) && value.kind === "uint" ? value.value : undefined;
}

/** Numbers of different types are compared as numbers, all else must be of one type. */
export function celEquals(a: Value, b: Value): boolean {
  const [left, right] = [numberOf(a), numberOf(b)];
  // biome-ignore lint/suspicious/noDoubleEquals: 1n == 1 is the comparison wanted; both sides are numbers.
  if (left !== undefined && right !== undefined) return left == right;
  if (!isTagged(a) || !isTagged(b))
    return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;
  if (a.kind === "list" && b.kind === "list") return listsEqual(a, b);
  if (a.kind === "map" && b.kind === "map") return mapsEqual(a, b);
  if (a.kind === "optional" && b.kind === "optional") return optionalsEqual(a.value, b.value);
  if (a.kind === "type" && b.kind === "type") return a.name === b.name;
  if (a.kind === "opaque" && b.kind === "opaque")
    return a.type === b.type && equal(comparable(a.data), comparable(b.data));
  return a.kind === b.kind && "nanos" in a && "nanos" in b && a.nanos === b.nanos;
}

/** A quantity is its amount, however it was written. */
const comparable = (data: unknown): unknown =>
  typeof data === "object" && data !== null && "nanos" in data ? data.nanos : data;

/** Equal values have equal texts. The order of lists is left out of it: for sets it does not matter. */
export function textFor(value: Value): string {
  const number = numberOf(value);
  if (number !== undefined) return `n${Number(number) + 0}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("base64")}`;
  if (!isTagged(value)) return `${typeof value} ${value}`;
  if (isList(value)) return `[${itemsOf(value).map(textFor).sort().join()}]`;
  if (isMap(value)) return `{${value.keys().map(textFor).sort().join()}}`;
  return "nanos" in value ? `${value.kind} ${value.nanos}` : value.kind;
}

const optionalsEqual = (a: Value | undefined, b: Value | undefined): boolean =>
  a === undefined || b === undefined ? a === b : celEquals(a, b);

function listsEqual(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false;
  const [left, right] = [itemsOf(a), itemsOf(b)];
  const identity = a.identity;
  if (identity === undefined) return left.every((item, index) => celEquals(item, right[index] ?? null));
  const candidates = Map.groupBy(right, (item) => textFor(identity(item)));
  return left.every((item) => {
    const id = identity(item);
    const counterpart = candidates.get(textFor(id))?.find((candidate) => celEquals(identity(candidate), id));
    return counterpart !== undefined && celEquals(item, counterpart);
  });
}

const mapsEqual = (a: MapValue, b: MapValue): boolean =>
  a.size === b.size &&
  equal(a.unseen ?? {}, b.unseen ?? {}) &&
  a.keys().every((key) => {
    const [left, right] = [a.get(key), b.get(key)];
    return left !== undefined && right !== undefined && celEquals(left, right);
  });

/** Less than 0, 0 or more; throws for what has no order. */
export function celCompare(a: Value, b: Value): number {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return numbersCompared(left, right);
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (isTagged(a) && isTagged(b) && "nanos" in a && "nanos" in b && a.kind === b.kind)
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  throw new CelFault("no such overload");
}

function numbersCompared(a: number | bigint, b: number | bigint): number {
  if (Number.isNaN(a) || Number.isNaN(b)) throw new CelFault("NaN values cannot be ordered");
  // Go orders a whole number and a double as doubles.
  const [left, right] = typeof a === typeof b ? [a, b] : [Number(a), Number(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
