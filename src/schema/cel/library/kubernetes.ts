/** Kubernetes' own types in rules: quantities, versions, named formats. Addresses stand in addresses.ts, URLs in urls.ts. */
import { compareQuantities, parseQuantity, type Quantity } from "../../../base/quantity.ts";
import { fitsFormat } from "../../formats.ts";
import {
  label1035Problems,
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from "../../names.ts";
import { fn, integer, isReadable, type Library, method, opaqueData, text } from "../functions.ts";
import { listOf, optionalOf, types } from "../types.ts";
import { CelFault, listFrom, none, opaque, some, type Value } from "../value.ts";
import { urls } from "./urls.ts";

const { bool, int, double, string, quantity: quantityType, format: formatType, semver: semverType } = types;
const nanosPerUnit = 1_000_000_000n;

const amount = (value: Value | undefined): Quantity => opaqueData<Quantity>(value, "kubernetes.Quantity");

function readQuantity(value: string): Quantity {
  try {
    if (/\s/.test(value)) throw new CelFault("a quantity has no blanks");
    return parseQuantity(value);
  } catch {
    throw new CelFault("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
}

const quantityOf = (quantity: Quantity): Value => opaque("kubernetes.Quantity", quantity);
/** Whole, and within an int64. */
const isInteger = ({ nanos }: Quantity): boolean =>
  nanos % nanosPerUnit === 0n && BigInt.asIntN(64, nanos / nanosPerUnit) === nanos / nanosPerUnit;
const units = (count: bigint, like: Quantity): Quantity => ({ ...like, nanos: count * nanosPerUnit });
const comparison =
  (holds: (order: number) => boolean) =>
  ([a, b]: readonly Value[]): Value =>
    holds(compareQuantities(amount(a), amount(b)));

function asInteger(quantity: Quantity): bigint {
  if (!isInteger(quantity)) throw new CelFault("cannot convert value to integer");
  return quantity.nanos / nanosPerUnit;
}

const plus = (a: Quantity, b: Quantity, sign: 1n | -1n): Value => quantityOf({ ...a, nanos: a.nanos + sign * b.nanos });

const quantities: Library = {
  quantity: [fn([string], quantityType, ([value]) => quantityOf(readQuantity(text(value))))],
  isQuantity: [fn([string], bool, ([value]) => isReadable(() => readQuantity(text(value))))],
  sign: [method([quantityType], int, ([value]) => BigInt(Math.sign(Number(amount(value).nanos))))],
  isGreaterThan: [
    method(
      [quantityType, quantityType],
      bool,
      comparison((order) => order > 0),
    ),
  ],
  isLessThan: [
    method(
      [quantityType, quantityType],
      bool,
      comparison((order) => order < 0),
    ),
  ],
  compareTo: [
    method([quantityType, quantityType], int, ([a, b]) => BigInt(Math.sign(compareQuantities(amount(a), amount(b))))),
  ],
  asApproximateFloat: [method([quantityType], double, ([value]) => Number(amount(value).nanos) / 1e9)],
  asInteger: [method([quantityType], int, ([value]) => asInteger(amount(value)))],
  isInteger: [method([quantityType], bool, ([value]) => isInteger(amount(value)))],
  add: [
    method([quantityType, quantityType], quantityType, ([a, b]) => plus(amount(a), amount(b), 1n)),
    method([quantityType, int], quantityType, ([a, b]) => plus(amount(a), units(integer(b), amount(a)), 1n)),
  ],
  sub: [
    method([quantityType, quantityType], quantityType, ([a, b]) => plus(amount(a), amount(b), -1n)),
    method([quantityType, int], quantityType, ([a, b]) => plus(amount(a), units(integer(b), amount(a)), -1n)),
  ],
};

type Judge = (value: string) => readonly string[];
const withoutDash = (value: string): string => (value.endsWith("-") ? `${value.slice(0, -1)}a` : value);
const byFormat =
  (format: string, words: string): Judge =>
  (value) =>
    fitsFormat(format, value) ? [] : [words];

const namedFormats: Readonly<Record<string, Judge>> = {
  dns1123Label: labelProblems,
  dns1123Subdomain: subdomainProblems,
  dns1035Label: label1035Problems,
  qualifiedName: qualifiedNameProblems,
  dns1123LabelPrefix: (value) => labelProblems(withoutDash(value)),
  dns1123SubdomainPrefix: (value) => subdomainProblems(withoutDash(value)),
  dns1035LabelPrefix: (value) => label1035Problems(withoutDash(value)),
  labelValue: labelValueProblems,
  uri: byFormat("uri", "invalid URI for request"),
  uuid: byFormat("uuid", "does not match the UUID format"),
  byte: byFormat("byte", "invalid base64"),
  date: byFormat("date", "invalid date"),
  datetime: byFormat("date-time", "invalid datetime"),
};

const formatValue = (name: string): Value => opaque("kubernetes.NamedFormat", name);

function judged(name: string, value: string): Value {
  const problems = namedFormats[name]?.(value) ?? [];
  return problems.length === 0 ? none : some(listFrom(problems));
}

const formats: Library = {
  ...Object.fromEntries(
    Object.keys(namedFormats).map((name) => [`format.${name}`, [fn([], formatType, () => formatValue(name))]]),
  ),
  "format.named": [
    fn([string], optionalOf(formatType), ([value]) =>
      Object.hasOwn(namedFormats, text(value)) ? some(formatValue(text(value))) : none,
    ),
  ],
  validate: [
    method([formatType, string], optionalOf(listOf(string)), ([format, value]) =>
      judged(opaqueData<string>(format, "kubernetes.NamedFormat"), text(value)),
    ),
  ],
};

const uint64Max = 2n ** 64n - 1n;

interface Semver {
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];
}

const semverShape = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;

function readSemver(value: string, normalize = false): Semver {
  const given = normalize ? normalized(value) : value;
  const parts = semverShape.exec(given);
  if (parts === null) throw new CelFault(`No Major.Minor.Patch elements found`);
  const numbers = [parts[1], parts[2], parts[3]].map((digits) => BigInt(digits ?? "0"));
  const [pre = [], build = []] = [parts[4]?.split("."), parts[5]?.split(".")];
  if (numbers.some((number) => number > uint64Max)) throw new CelFault("value out of range");
  if (pre.some((part) => /^0\d+$/.test(part)))
    throw new CelFault("Numeric PreRelease version must not contain leading zeroes");
  if ([...pre, ...build].includes("")) throw new CelFault("Prerelease and build metadata must not be empty");
  return { numbers, pre };
}

function normalized(value: string): string {
  const [core = "", ...rest] = value.replace(/^v/, "").split(/(?=[-+])/);
  const numbers = core.split(".").map((digits) => digits.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return [numbers.join("."), ...rest].join("");
}

function compareSemvers(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Number(b.pre.length > 0) - Number(a.pre.length > 0);
  return comparePre(a.pre, b.pre);
}

function comparePre(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    const order = other === undefined ? 1 : compareIdentifiers(part, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers come before words, and are compared as numbers. */
function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return Math.sign(Number(a) - Number(b));
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

const semverOf = (value: Value | undefined): Semver => opaqueData<Semver>(value, "kubernetes.Semver");
const semverOrder = (a: Value | undefined, b: Value | undefined): number => compareSemvers(semverOf(a), semverOf(b));
const semverPart = (index: number): readonly ReturnType<typeof method>[] => [
  method([semverType], int, ([value]) => semverOf(value).numbers[index] ?? 0n),
];

const semvers: Library = {
  semver: [
    fn([string], semverType, ([value]) => opaque("kubernetes.Semver", readSemver(text(value)))),
    fn([string, bool], semverType, ([value, lax]) =>
      opaque("kubernetes.Semver", readSemver(text(value), lax === true)),
    ),
  ],
  isSemver: [
    fn([string], bool, ([value]) => isReadable(() => readSemver(text(value)))),
    fn([string, bool], bool, ([value, lax]) => isReadable(() => readSemver(text(value), lax === true))),
  ],
  isGreaterThan: [method([semverType, semverType], bool, ([a, b]) => semverOrder(a, b) > 0)],
  isLessThan: [method([semverType, semverType], bool, ([a, b]) => semverOrder(a, b) < 0)],
  compareTo: [method([semverType, semverType], int, ([a, b]) => BigInt(Math.sign(semverOrder(a, b))))],
  major: semverPart(0),
  minor: semverPart(1),
  patch: semverPart(2),
};

export const kubernetes: readonly Library[] = [quantities, urls, formats, semvers];
