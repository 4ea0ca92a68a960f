/** What can be done with lists: Kubernetes' own functions, CEL's lists extension, and lists as sets. */
import { bucketsOf, createBuckets } from "../buckets.ts";
import { fn, integer, type Library, list, method, type Overload } from "../functions.ts";
import { A, type CelType, listOf, optionalOf, types } from "../types.ts";
import {
  CelFault,
  celCompare,
  celEquals,
  duration,
  isList,
  isTagged,
  itemsOf,
  listFrom,
  none,
  some,
  uint,
  type Value,
} from "../value.ts";
import { operators } from "./operators.ts";

const { bool, int, uint: uintType, double, string, bytes, timestamp, duration: durationType } = types;
const comparables: readonly CelType[] = [int, uintType, double, bool, durationType, timestamp, string, bytes];
const summables: readonly (readonly [CelType, Value])[] = [
  [int, 0n],
  [uintType, uint(0n)],
  [double, 0],
  [durationType, duration(0n)],
];

const isSorted = (items: readonly Value[]): boolean =>
  items.every((item, index) => index === 0 || celCompare(items[index - 1] ?? null, item) <= 0);

function extreme(items: readonly Value[], name: string, isBetter: (order: number) => boolean): Value {
  const [first, ...rest] = items;
  if (first === undefined) throw new CelFault(`${name} called on empty list`);
  return rest.reduce((best, item) => (isBetter(celCompare(item, best)) ? item : best), first);
}

function sum(items: readonly Value[], zero: Value): Value {
  const add = operators["_+_"] ?? [];
  return items.reduce((total, item) => {
    const overload = add.find(({ args }) => args.length === 2 && sameKind(total, item, args));
    if (overload === undefined) throw new CelFault("no such overload");
    return overload.run([total, item]);
  }, zero);
}

const kindOf = (value: Value): string => (isTagged(value) ? value.kind : typeof value);
const kindNames: Readonly<Record<string, string>> = {
  int: "bigint",
  uint: "uint",
  double: "number",
  "google.protobuf.Duration": "duration",
};
const sameKind = (a: Value, b: Value, args: readonly CelType[]): boolean =>
  args.every((arg, index) => arg.kind === "simple" && kindNames[arg.name] === kindOf(index === 0 ? a : b));

function distinct(items: readonly Value[]): Value[] {
  const seen = createBuckets<true>();
  return items.filter((item) => {
    if (seen.find(item)) return false;
    seen.add(item, true);
    return true;
  });
}

const sorted = (items: readonly Value[]): Value[] => [...items].sort(celCompare);

function flattened(items: readonly Value[], depth: bigint): Value[] {
  if (depth < 0n) throw new CelFault("flatten(): level must be non-negative");
  return items.flatMap((item) => (isList(item) && depth > 0n ? flattened(itemsOf(item), depth - 1n) : [item]));
}

function slice(items: readonly Value[], start: bigint, end: bigint): Value[] {
  if (start < 0n || end < 0n) throw new CelFault(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end)
    throw new CelFault(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > BigInt(items.length)) throw new CelFault(`cannot slice(${start}, ${end}), list is length ${items.length}`);
  return items.slice(Number(start), Number(end));
}

const rangeMax = 1_000_000n;

function range(count: bigint): Value {
  if (count > rangeMax) throw new CelFault("operation cancelled: actual cost limit exceeded");
  return listFrom(Array.from({ length: Math.max(Number(count), 0) }, (_, index) => BigInt(index)));
}

const has = (items: readonly Value[]): ((item: Value) => boolean) => {
  const buckets = bucketsOf(items);
  return (item) => buckets.find(item) !== undefined;
};
const containsAll = (items: readonly Value[], wanted: readonly Value[]): boolean => wanted.every(has(items));

const onItems = (result: CelType, run: (items: readonly Value[]) => Value, of: CelType = A): Overload =>
  method([listOf(of)], result, ([value]) => run(itemsOf(list(value))));
const onSets = (run: (a: readonly Value[], b: readonly Value[]) => boolean): readonly Overload[] => [
  fn([listOf(A), listOf(A)], bool, ([a, b]) => run(itemsOf(list(a)), itemsOf(list(b)))),
];

export const lists: Library = {
  isSorted: comparables.map((type) => onItems(bool, isSorted, type)),
  sum: summables.map(([type, zero]) => onItems(type, (items) => sum(items, zero), type)),
  min: comparables.map((type) => onItems(type, (items) => extreme(items, "min", (order) => order < 0), type)),
  max: comparables.map((type) => onItems(type, (items) => extreme(items, "max", (order) => order > 0), type)),
  indexOf: [
    method([listOf(A), A], int, ([value, item]) =>
      BigInt(itemsOf(list(value)).findIndex((other) => celEquals(other, item ?? null))),
    ),
  ],
  lastIndexOf: [
    method([listOf(A), A], int, ([value, item]) =>
      BigInt(itemsOf(list(value)).findLastIndex((other) => celEquals(other, item ?? null))),
    ),
  ],
  slice: [
    method([listOf(A), int, int], listOf(A), ([value, start, end]) =>
      listFrom(slice(itemsOf(list(value)), integer(start), integer(end))),
    ),
  ],
  flatten: [
    method([listOf(listOf(A))], listOf(A), ([value]) => listFrom(flattened(itemsOf(list(value)), 1n))),
    method([listOf(types.dyn), int], listOf(types.dyn), ([value, depth]) =>
      listFrom(flattened(itemsOf(list(value)), integer(depth))),
    ),
  ],
  sort: comparables.map((type) => onItems(listOf(type), (items) => listFrom(sorted(items)), type)),
  distinct: [onItems(listOf(A), (items) => listFrom(distinct(items)))],
  reverse: [onItems(listOf(A), (items) => listFrom([...items].reverse()))],
  first: [onItems(optionalOf(A), ([first]) => (first === undefined ? none : some(first)))],
  last: [onItems(optionalOf(A), (items) => (items.length === 0 ? none : some(items.at(-1) ?? null)))],
  "lists.range": [fn([int], listOf(int), ([count]) => range(integer(count)))],
  "sets.contains": onSets(containsAll),
  "sets.equivalent": onSets((a, b) => containsAll(a, b) && containsAll(b, a)),
  "sets.intersects": onSets((a, b) => b.some(has(a))),
};
