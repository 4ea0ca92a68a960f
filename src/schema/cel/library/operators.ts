/** Arithmetic, comparison, membership and size. Logic and choice are no functions: they may leave an argument unevaluated. */
import { bucketsOf } from "../buckets.ts";
import { fn, integer, type Library, list, map, method, nanosOf, type Overload, text } from "../functions.ts";
import { A, B, listOf, mapOf, optionalOf, types } from "../types.ts";
import {
  CelFault,
  celCompare,
  celEquals,
  duration,
  isList,
  isMap,
  isTagged,
  itemsOf,
  type ListValue,
  listFrom,
  none,
  numberOf,
  some,
  timestamp,
  uint,
  type Value,
} from "../value.ts";
import { withinTime } from "./time.ts";

const { bool, int, uint: uintType, double, string, bytes, timestamp: timestampType, duration: durationType } = types;

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;

export function asInt(value: bigint): bigint {
  if (value > int64Max || value < int64Min) throw new CelFault("integer overflow");
  return value;
}
export function asUint(value: bigint): Value {
  if (value > uint64Max || value < 0n) throw new CelFault("unsigned integer overflow");
  return uint(value);
}

const unsigned = (value: Value | undefined): bigint => {
  if (value === undefined || !isTagged(value) || value.kind !== "uint") throw new CelFault("no such overload");
  return value.value;
};
const floating = (value: Value | undefined): number => {
  if (typeof value !== "number") throw new CelFault("no such overload");
  return value;
};

const ints = (run: (a: bigint, b: bigint) => bigint): Overload =>
  fn([int, int], int, ([a, b]) => asInt(run(integer(a), integer(b))));
const uints = (run: (a: bigint, b: bigint) => bigint): Overload =>
  fn([uintType, uintType], uintType, ([a, b]) => asUint(run(unsigned(a), unsigned(b))));
const doubles = (run: (a: number, b: number) => number): Overload =>
  fn([double, double], double, ([a, b]) => run(floating(a), floating(b)));

const nonZero = (value: bigint, words: string): bigint => {
  if (value === 0n) throw new CelFault(words);
  return value;
};

/** Lists that are sets or maps keep their entries unique when joined: later ones win, where the earlier stood. */
function concatenated(a: ListValue, b: ListValue): Value {
  const { identity } = a;
  if (identity === undefined) return listFrom([...itemsOf(a), ...itemsOf(b)]);
  const merged = itemsOf(a);
  const places = bucketsOf(merged.map(identity));
  for (const item of itemsOf(b)) {
    const at = places.find(identity(item));
    if (at === undefined) places.add(identity(item), merged.push(item) - 1);
    else merged[at] = item;
  }
  return { ...listFrom(merged), identity };
}

const comparables = [bool, int, uintType, double, string, bytes, timestampType, durationType];
const numbers = [int, uintType, double];

const ordering = (holds: (order: number) => boolean): readonly Overload[] => [
  ...comparables.map((type) => fn([type, type], bool, ([a, b]) => holds(celCompare(a ?? null, b ?? null)))),
  ...numbers.flatMap((left) =>
    numbers
      .filter((right) => right !== left)
      .map((right) => fn([left, right], bool, ([a, b]) => holds(celCompare(a ?? null, b ?? null)))),
  ),
];

function elementAt(of: Value, index: Value): Value | undefined {
  if (isMap(of)) return of.get(index);
  if (!isList(of)) throw new CelFault("no such overload");
  const position = Number(numberOf(index) ?? -1);
  if (!Number.isInteger(position)) throw new CelFault(`unsupported index type 'double' in list`);
  return position >= 0 && position < of.size ? of.at(position) : undefined;
}

const indexed = ([of = null, index = null]: readonly Value[]): Value => {
  const found = elementAt(of, index);
  if (found !== undefined) return found;
  throw new CelFault(isMap(of) ? `no such key: ${shownKey(index)}` : `index out of bounds: ${shownKey(index)}`);
};

/** Keys in messages are printed bare. */
export const shownKey = (key: Value): string =>
  isTagged(key) && key.kind === "uint" ? String(key.value) : String(key);

function optionalIndex([of = null, index = null]: readonly Value[]): Value {
  if (isTagged(of) && of.kind === "optional") return of.value === undefined ? none : optionalIndex([of.value, index]);
  const found = elementAt(of, index);
  return found === undefined ? none : some(found);
}

const isIn = ([item = null, container = null]: readonly Value[]): Value => {
  if (isMap(container)) return container.get(item) !== undefined;
  return isList(container) && itemsOf(container).some((other) => celEquals(other, item));
};

const runes = (value: string): bigint => BigInt([...value].length);
const sizes: readonly (readonly [Parameters<typeof fn>[0][number], (value: Value | undefined) => bigint])[] = [
  [string, (value) => runes(text(value))],
  [bytes, (value) => BigInt(value instanceof Uint8Array ? value.length : 0)],
  [listOf(A), (value) => BigInt(list(value).size)],
  [mapOf(A, B), (value) => BigInt(map(value).size)],
];

export const operators: Library = {
  "_+_": [
    ints((a, b) => a + b),
    uints((a, b) => a + b),
    doubles((a, b) => a + b),
    fn([string, string], string, ([a, b]) => text(a) + text(b)),
    fn([bytes, bytes], bytes, ([a, b]) => Uint8Array.from(Buffer.concat([a as Uint8Array, b as Uint8Array]))),
    fn([listOf(A), listOf(A)], listOf(A), ([a, b]) => concatenated(list(a), list(b))),
    fn([timestampType, durationType], timestampType, ([a, b]) => timestamp(withinTime(nanosOf(a) + nanosOf(b)))),
    fn([durationType, timestampType], timestampType, ([a, b]) => timestamp(withinTime(nanosOf(a) + nanosOf(b)))),
    fn([durationType, durationType], durationType, ([a, b]) => duration(asInt(nanosOf(a) + nanosOf(b)))),
  ],
  "_-_": [
    ints((a, b) => a - b),
    uints((a, b) => a - b),
    doubles((a, b) => a - b),
    fn([timestampType, timestampType], durationType, ([a, b]) => duration(asInt(nanosOf(a) - nanosOf(b)))),
    fn([timestampType, durationType], timestampType, ([a, b]) => timestamp(withinTime(nanosOf(a) - nanosOf(b)))),
    fn([durationType, durationType], durationType, ([a, b]) => duration(asInt(nanosOf(a) - nanosOf(b)))),
  ],
  "_*_": [ints((a, b) => a * b), uints((a, b) => a * b), doubles((a, b) => a * b)],
  "_/_": [
    ints((a, b) => a / nonZero(b, "division by zero")),
    uints((a, b) => a / nonZero(b, "division by zero")),
    doubles((a, b) => a / b),
  ],
  "_%_": [ints((a, b) => a % nonZero(b, "modulus by zero")), uints((a, b) => a % nonZero(b, "modulus by zero"))],
  "-_": [
    fn([int], int, ([a]) => asInt(-integer(a))),
    fn([double], double, ([a]) => -floating(a)),
    fn([durationType], durationType, ([a]) => duration(asInt(-nanosOf(a)))),
  ],
  "!_": [fn([bool], bool, ([a]) => a !== true)],
  "_==_": [fn([A, A], bool, ([a, b]) => celEquals(a ?? null, b ?? null))],
  "_!=_": [fn([A, A], bool, ([a, b]) => !celEquals(a ?? null, b ?? null))],
  "_<_": ordering((order) => order < 0),
  "_<=_": ordering((order) => order <= 0),
  "_>_": ordering((order) => order > 0),
  "_>=_": ordering((order) => order >= 0),
  "@in": [fn([A, listOf(A)], bool, isIn), fn([A, mapOf(A, B)], bool, isIn)],
  "_[_]": [
    fn([listOf(A), int], A, indexed),
    fn([mapOf(A, B), A], B, indexed),
    fn([optionalOf(listOf(A)), int], optionalOf(A), optionalIndex),
    fn([optionalOf(mapOf(A, B)), A], optionalOf(B), optionalIndex),
  ],
  "_[?_]": [
    fn([listOf(A), int], optionalOf(A), optionalIndex),
    fn([optionalOf(listOf(A)), int], optionalOf(A), optionalIndex),
    fn([mapOf(A, B), A], optionalOf(B), optionalIndex),
    fn([optionalOf(mapOf(A, B)), A], optionalOf(B), optionalIndex),
  ],
  size: sizes.flatMap(([type, measure]) => [
    fn([type], int, ([value]) => measure(value)),
    method([type], int, ([value]) => measure(value)),
  ]),
};
