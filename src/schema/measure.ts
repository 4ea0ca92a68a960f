/** Numbers, texts and lists against their bounds. */
import { equal, type JsonValue } from "../base/json.ts";
import { type Finding, note } from "./finding.ts";
import { goFloat } from "./go-text.ts";
import type { Bounds, SchemaNode } from "./node.ts";

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);
const int32Max = 2 ** 31 - 1;
const int32Min = -(2 ** 31);
const float32Max = 3.4028234663852886e38;

/** Go keeps a whole number as an int64 and everything else as a float64. */
export const isWhole = (value: number | bigint): boolean =>
  typeof value === "bigint"
    ? value <= int64Max && value >= int64Min
    : Number.isInteger(value) && Math.abs(value) < 2 ** 63;

function fitsRange(value: number | bigint, type: string, format: string): boolean {
  if (type === "integer")
    return isWhole(value) && (format !== "int32" || (Number(value) <= int32Max && Number(value) >= int32Min));
  return type !== "number" || format !== "float" || Math.abs(Number(value)) <= float32Max;
}

function rangeProblem(what: string, type: string, format: string, path: string): string {
  const wanted = format === "" ? `${type} (default format)` : `${type} with format ${format}`;
  return `${what} value must be of type ${wanted} in ${path}`;
}

export function checkNumber(schema: SchemaNode, value: number | bigint, path: string, finding: Finding): void {
  const type = schema.types.length === 1 ? (schema.types[0] ?? "") : "";
  const format = type === "integer" || type === "number" ? schema.format : "";
  if (!fitsRange(value, type, format))
    note(finding, { kind: "composite", message: rangeProblem("Checked", type, format, path) });
  const { bounds } = schema;
  if (bounds !== undefined) checkBounds({ bounds, type, format, value, path, finding });
  finding.passed += 1;
}

interface NumberCheck {
  readonly bounds: Bounds;
  readonly type: string;
  readonly format: string;
  readonly value: number | bigint;
  readonly path: string;
  readonly finding: Finding;
}

function checkBounds(check: NumberCheck): void {
  const { bounds } = check;
  if (bounds.multipleOf !== undefined) checkMultiple(check, comparable(check, bounds.multipleOf, "MultipleOf"));
  if (bounds.minimum !== undefined) checkLeast(check, comparable(check, bounds.minimum, "Minimum boundary"));
  if (bounds.maximum !== undefined) checkMost(check, comparable(check, bounds.maximum, "Maximum boundary"));
}

function checkMultiple({ value, path, finding }: NumberCheck, factor: number): void {
  if (factor <= 0)
    note(finding, {
      kind: "invalid",
      path,
      value: factor,
      message: `factor MultipleOf declared for ${path} must be positive: ${shownBound(factor, value)}`,
    });
  else if (!isMultiple(value, factor))
    note(finding, {
      kind: "invalid",
      path,
      value,
      message: `${path} in body should be a multiple of ${shownBound(factor, value)}`,
    });
}

function checkLeast({ bounds, value, path, finding }: NumberCheck, least: number): void {
  if (bounds.exclusiveMinimum ? value > least : value >= least) return;
  const words = bounds.exclusiveMinimum ? "greater than" : "greater than or equal to";
  note(finding, {
    kind: "invalid",
    path,
    value,
    message: `${path} in body should be ${words} ${shownBound(least, value)}`,
  });
}

function checkMost({ bounds, value, path, finding }: NumberCheck, most: number): void {
  if (bounds.exclusiveMaximum ? value < most : value <= most) return;
  const words = bounds.exclusiveMaximum ? "less than" : "less than or equal to";
  note(finding, {
    kind: "invalid",
    path,
    value,
    message: `${path} in body should be ${words} ${shownBound(most, value)}`,
  });
}

/** A bound is compared as the value's own Go type; a bound that does not fit the schema's type is a problem of its own. */
function comparable({ type, format, value, path, finding }: NumberCheck, bound: number, what: string): number {
  if (!fitsRange(bound, type, format)) {
    note(finding, { kind: "composite", message: rangeProblem(what, type, format, path) });
    return bound;
  }
  return isWhole(value) ? Math.trunc(bound) : bound;
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (isWhole(value) && Number.isInteger(factor)) return BigInt(value) % BigInt(factor) === 0n;
  const amount = Number(value);
  const times = factor < 1 ? (1 / factor) * amount : amount / factor;
  return isJsonInteger(times);
}

/** Whole up to rounding, as the validator's library decides it. */
export function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  if (Number.isInteger(value)) return true;
  const nearest = Math.trunc(value);
  const distance = Math.abs(value - nearest);
  return distance / Math.min(Math.abs(value) + Math.abs(nearest), Number.MAX_VALUE) < 1e-9;
}

/** A bound is printed as the Go type it was compared as. */
const shownBound = (bound: number, value: number | bigint): string => (isWhole(value) ? String(bound) : goFloat(bound));

const runes = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** The first bound a text breaks is the one reported. */
export function checkText(bounds: Bounds, value: string, path: string, finding: Finding): void {
  if (bounds.maxLength !== undefined && value.length > bounds.maxLength && runes(value) > bounds.maxLength) {
    const message = `${path} in body should be at most ${bounds.maxLength} chars long`;
    note(finding, { kind: "tooLong", path, max: bounds.maxLength, message });
  } else if (bounds.minLength !== undefined && runes(value) < bounds.minLength) {
    const message = `${path} in body should be at least ${bounds.minLength} chars long`;
    note(finding, { kind: "invalid", path, value, message });
  } else if (bounds.pattern !== undefined && !bounds.pattern.test(value)) {
    const { source, problem } = bounds.pattern;
    const said = problem === undefined ? source : `${source}, but pattern is invalid: ${problem}`;
    note(finding, { kind: "invalid", path, value, message: `${path} in body should match '${said}'` });
  }
}

export function checkItemCount(bounds: Bounds, items: readonly JsonValue[], path: string, finding: Finding): void {
  const count = items.length;
  if (bounds.minItems !== undefined && count < bounds.minItems) {
    const message = `${path} in body should have at least ${bounds.minItems} items`;
    note(finding, { kind: "invalid", path, value: count, message });
  }
  if (bounds.maxItems !== undefined && count > bounds.maxItems) {
    const message = `${path} in body should have at most ${bounds.maxItems} items`;
    note(finding, { kind: "tooMany", path, actual: count, max: bounds.maxItems, message });
  }
  if (bounds.uniqueItems && items.some((item, index) => items.slice(0, index).some((earlier) => equal(item, earlier))))
    note(finding, { kind: "invalid", path, value: "", message: `${path} in body shouldn't contain duplicates` });
}

export function checkPropertyCount(bounds: Bounds, count: number, path: string, finding: Finding): void {
  if (bounds.minProperties !== undefined && count < bounds.minProperties) {
    const message = `${path} in body should have at least ${bounds.minProperties} properties`;
    note(finding, { kind: "invalid", path, value: count, message });
  }
  if (bounds.maxProperties !== undefined && count > bounds.maxProperties) {
    const message = `${path} in body should have at most ${bounds.maxProperties} properties`;
    note(finding, { kind: "tooMany", path, actual: count, max: bounds.maxProperties, message });
  }
}
