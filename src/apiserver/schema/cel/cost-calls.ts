/** What calling a function may cost at worst, by its name: the figures of cel-go and of Kubernetes' libraries. */
import type { Constant } from "./ast.ts";
import {
  addCosts,
  addSizes,
  byFactor,
  fixedSize,
  multiplyCosts,
  multiplySizes,
  perPatternCharacter,
  type Size,
  traversal,
} from "./size.ts";
import type { CelType } from "./types.ts";

/** An argument as the estimate sees it. */
export interface Operand {
  readonly type: CelType;
  readonly size: Size;
  /** The size of a list's entries, as far as the schema says. */
  readonly entrySize: Size;
  readonly constant: Constant | undefined;
}

export interface CallCost {
  /** Without what the arguments cost themselves. */
  readonly cost: number;
  readonly size?: Size;
}

type Estimate = (target: Operand | undefined, args: readonly Operand[]) => CallCost | undefined;

const isSimple = (type: CelType, ...names: readonly string[]): boolean =>
  type.kind === "simple" && names.includes(type.name);
const nominal: Estimate = () => ({ cost: 1 });
const throughFirst: Estimate = (_, [first]) =>
  first === undefined ? undefined : { cost: byFactor(first.size.max, traversal) };
const throughTarget: Estimate = (target) =>
  target === undefined ? undefined : { cost: byFactor(target.size.max, traversal), size: target.size };

/** Each entry is compared once; texts among them are gone through. */
const overEntries: Estimate = (target) => {
  if (target === undefined) return undefined;
  if (target.type.kind !== "list") return { cost: byFactor(target.size.max, traversal) };
  const isText = isSimple(target.type.of, "string", "bytes");
  const each = isText ? addCosts(1, byFactor(target.entrySize.max, traversal)) : 1;
  return { cost: multiplyCosts(target.size.max, each) };
};

const search: Estimate = (target, [pattern]) => {
  if (target === undefined || pattern === undefined) return undefined;
  const text = byFactor(target.size.max + 1, traversal);
  return {
    cost: multiplyCosts(text, byFactor(pattern.size.max, perPatternCharacter)),
    size: { min: 0, max: target.size.max },
  };
};

const replace: Estimate = (target, [old, by]) => {
  if (target === undefined || old === undefined || by === undefined) return undefined;
  const { max } = target.size;
  const longest =
    old.size.min === 0
      ? multiplyCosts(max + 1, by.size.max) + max
      : by.size.max <= old.size.min
        ? max
        : multiplyCosts(Math.ceil(max / old.size.min), by.size.max);
  return { cost: byFactor(max, 2 * traversal), size: { min: 0, max: longest } };
};

const split: Estimate = (target, [, times]) => {
  if (target === undefined) return undefined;
  const max = typeof times?.constant === "bigint" ? Number(times.constant) : target.size.max;
  return { cost: byFactor(target.size.max, 2 * traversal), size: { min: 0, max } };
};

const join: Estimate = (target, [separator]) => {
  if (target === undefined) return undefined;
  const entries = multiplySizes(target.size, target.entrySize);
  const between = { min: Math.max(target.size.min - 1, 0), max: Math.max(target.size.max - 1, 0) };
  const size = separator === undefined ? entries : addSizes(entries, multiplySizes(separator.size, between));
  return { cost: byFactor(size.max, traversal), size };
};

const listMade = (factor: number, size: Size): CallCost => ({
  cost: addCosts(byFactor(size.max, factor), 1, 10),
  size,
});
const sorted: Estimate = (target) => {
  if (target === undefined) return undefined;
  const isText = target.type.kind === "list" && isSimple(target.type.of, "string", "bytes");
  return listMade(isText ? 2 + traversal : 2, multiplySizes(target.size, target.size));
};
const constantOr = (operand: Operand | undefined, otherwise: number): number =>
  typeof operand?.constant === "bigint" ? Number(operand.constant) : otherwise;

const ofSets =
  (factor: number): Estimate =>
  (_, [a, b]) =>
    a === undefined || b === undefined
      ? undefined
      : { cost: addCosts(byFactor(multiplyCosts(a.size.max, b.size.max), factor), 1) };

/** Two addresses of sixteen bytes at most are compared; one that is text is read first. */
const network =
  (base: number): Estimate =>
  (_, [other]) =>
    other === undefined
      ? undefined
      : { cost: addCosts(base, isSimple(other.type, "string") ? byFactor(other.size.max, traversal) : 0) };

const named = (names: string, estimate: Estimate): readonly (readonly [string, Estimate])[] =>
  names.split(" ").map((name) => [name, estimate] as const);

const formatFactor = 128 * perPatternCharacter;

const estimates: ReadonlyMap<string, Estimate> = new Map([
  ...named("isSorted sum max min indexOf lastIndexOf", overEntries),
  ...named("lowerAscii upperAscii substring trim", throughTarget),
  ...named("url", (_, [first]) =>
    first === undefined ? undefined : { cost: byFactor(first.size.max, traversal), size: first.size },
  ),
  ...named("cidr isIP isCIDR quantity isQuantity semver isSemver startsWith endsWith", throughFirst),
  ...named("ip", (target, args) => (target === undefined ? throughFirst(target, args) : { cost: 1 })),
  ...named("ip.isCanonical", (_, [first]) =>
    first === undefined ? undefined : { cost: byFactor(first.size.max, 2 * traversal) },
  ),
  ...named(
    "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast",
    nominal,
  ),
  ...named("containsIP", network(byFactor(32, traversal))),
  ...named("containsCIDR", network(addCosts(byFactor(32, traversal), byFactor(16, traversal), 1))),
  ...named(
    "format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch",
    nominal,
  ),
  ...named("getScheme getHostname getHost getPort getEscapedPath getQuery", nominal),
  ...named("validate", (_, [first]) =>
    first === undefined ? undefined : { cost: byFactor(byFactor(first.size.max, traversal), formatFactor) },
  ),
  ...named("find findAll", search),
  ...named("replace", replace),
  ...named("split", split),
  ...named("join", join),
  ...named("slice", (target, [start, end]) =>
    target === undefined
      ? undefined
      : listMade(1, fixedSize(Math.max(constantOr(end, target.size.max) - constantOr(start, 0), 0))),
  ),
  ...named("flatten", (target, [depth]) =>
    target === undefined ? undefined : listMade(constantOr(depth, 1), target.size),
  ),
  ...named("lists.range", (_, [count]) => listMade(1, fixedSize(constantOr(count, 2 ** 64)))),
  ...named("reverse", (target) => (target === undefined ? undefined : listMade(1, target.size))),
  ...named("distinct", (target) =>
    target === undefined ? undefined : listMade(2, multiplySizes(target.size, target.size)),
  ),
  ...named("sort", sorted),
  ...named("sets.contains sets.intersects", ofSets(1)),
  ...named("sets.equivalent", ofSets(2)),
  ...named("format", (target) => (target === undefined ? undefined : { cost: byFactor(target.size.max, traversal) })),
  ...named("strings.quote", (_, [first]) =>
    first === undefined
      ? undefined
      : { cost: byFactor(first.size.max, traversal), size: { min: first.size.min + 2, max: first.size.max * 2 + 2 } },
  ),
  ...named("matches", (target, args) => {
    const [subject, pattern] = target === undefined ? args : [target, args[0]];
    return subject === undefined || pattern === undefined ? undefined : { cost: search(subject, [pattern])?.cost ?? 1 };
  }),
  ...named("contains", (target, [part]) =>
    target === undefined || part === undefined
      ? undefined
      : { cost: multiplyCosts(byFactor(target.size.max, traversal), byFactor(part.size.max, traversal)) },
  ),
  ...named("@in", (_, [, list]) => (list?.type.kind === "list" ? { cost: list.size.max } : { cost: 1 })),
  ...named("_==_ _!=_", compared),
  ...named("_<_ _<=_ _>_ _>=_", (target, args) =>
    isSimple(args[0]?.type ?? { kind: "type", of: undefined }, "string", "bytes")
      ? compared(target, args)
      : { cost: 1 },
  ),
  ...named("_+_", added),
]);

/** The shorter of two texts or lists decides how long they are compared. */
function compared(_: Operand | undefined, [left, right]: readonly Operand[]): CallCost | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (isSimple(left.type, "net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver")) return { cost: 1 };
  return { cost: byFactor(Math.min(left.size.max, right.size.max), traversal) };
}

function added(_: Operand | undefined, [left, right]: readonly Operand[]): CallCost | undefined {
  if (left === undefined || right === undefined) return undefined;
  const size = addSizes(left.size, right.size);
  if (left.type.kind === "list") return { cost: 1, size };
  return isSimple(left.type, "string", "bytes") ? { cost: byFactor(size.max, traversal), size } : { cost: 1 };
}

export function callCost(name: string, target: Operand | undefined, args: readonly Operand[]): CallCost {
  const given = estimates.get(name)?.(target, args);
  if (given !== undefined) return given;
  if (name === "string" && isSimple(args[0]?.type ?? { kind: "type", of: undefined }, "bytes"))
    return { cost: byFactor(args[0]?.size.max ?? 0, traversal), size: args[0]?.size ?? fixedSize(0) };
  if (name === "bytes" && isSimple(args[0]?.type ?? { kind: "type", of: undefined }, "string"))
    return {
      cost: byFactor(args[0]?.size.max ?? 0, traversal),
      size: { min: args[0]?.size.min ?? 0, max: (args[0]?.size.max ?? 0) * 4 },
    };
  return { cost: 1 };
}
