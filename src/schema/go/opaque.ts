/** The Go types that read and write their own JSON: times, quantities, durations, numbers-or-names. */
import type { JsonValue } from "../../base/json.ts";
import { parseQuantity, printQuantity } from "../../base/quantity.ts";
import type { GoOpaque } from "./types.ts";

/** The sentence Go's decoder would have said. */
export class GoValueError extends Error {
  override readonly name = "GoValueError";
}

/** `mismatch` makes the error for a value of the wrong JSON type, given the Go type wanted. */
export function fitOpaque(of: GoOpaque, value: JsonValue, mismatch: (want: string) => GoValueError): JsonValue {
  switch (of) {
    case "v1.Time":
      if (typeof value !== "string") throw mismatch("string");
      return fitTime(value, secondsLayout);
    case "v1.MicroTime":
      if (typeof value !== "string") throw mismatch("string");
      return fitTime(value, microLayout);
    case "v1.Duration":
      if (typeof value !== "string") throw mismatch("string");
      return value;
    case "resource.Quantity":
      return fitQuantity(value);
    case "intstr.IntOrString":
      if (typeof value !== "string" && typeof value !== "number") throw mismatch("int32");
      return value;
    default:
      return value;
  }
}

const quantityShape = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

function fitQuantity(value: JsonValue): string {
  const text = typeof value === "string" ? value : String(value);
  if (!quantityShape.test(text))
    throw new GoValueError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  try {
    return printQuantity(parseQuantity(text));
  } catch {
    throw new GoValueError("unable to parse quantity's suffix");
  }
}

interface Layout {
  readonly text: string;
  readonly pieces: readonly (readonly [name: string, shape: RegExp])[];
  print(date: Date, fraction: string): string;
}

const digits = (count: number): RegExp => new RegExp(`^\\d{${count}}`);
const literal = (text: string): readonly [string, RegExp] => [text, new RegExp(`^${text}`)];
const dateAndTime = [
  ["2006", digits(4)],
  literal("-"),
  ["01", digits(2)],
  literal("-"),
  ["02", digits(2)],
  literal("T"),
  ["15", digits(2)],
  literal(":"),
  ["04", digits(2)],
  literal(":"),
] as const;
const zone = ["Z07:00", /^(?:Z|[+-]\d\d:\d\d)/] as const;

const secondsLayout: Layout = {
  text: "2006-01-02T15:04:05Z07:00",
  pieces: [...dateAndTime, ["05", /^\d{2}(?:[.,]\d+)?/], zone],
  print: (date) => `${date.toISOString().slice(0, 19)}Z`,
};
const microLayout: Layout = {
  text: "2006-01-02T15:04:05.000000Z07:00",
  pieces: [...dateAndTime, ["05", digits(2)], [".000000", /^[.,]\d{6}/], zone],
  print: (date, fraction) => `${date.toISOString().slice(0, 19)}.${fraction}Z`,
};

/** As the server itself prints times, and of a day that every month has: nothing to change, nothing to refuse. */
const plainTime = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

function fitTime(text: string, layout: Layout): string {
  if (layout === secondsLayout && plainTime.test(text)) return text;
  const parts = new Map<string, string>();
  let rest = text;
  for (const [name, shape] of layout.pieces) {
    const found = shape.exec(rest)?.[0];
    if (found === undefined)
      throw new GoValueError(`parsing time "${text}" as "${layout.text}": cannot parse "${rest}" as "${name}"`);
    parts.set(name, found);
    rest = rest.slice(found.length);
  }
  if (rest !== "") throw new GoValueError(`parsing time "${text}": extra text: "${rest}"`);
  checkRanges(text, parts);
  const date = new Date(text.replace(",", "."));
  if (Number.isNaN(date.getTime())) throw new GoValueError(`parsing time "${text}": day out of range`);
  return layout.print(date, (parts.get(".000000") ?? "").slice(1));
}

const ranges = [
  ["01", "month", 1, 12],
  ["02", "day", 1, 31],
  ["15", "hour", 0, 23],
  ["04", "minute", 0, 59],
  ["05", "second", 0, 59],
] as const;

function checkRanges(text: string, parts: ReadonlyMap<string, string>): void {
  for (const [name, word, least, most] of ranges) {
    const value = Number((parts.get(name) ?? "").slice(0, 2));
    if (value < least || value > most) throw new GoValueError(`parsing time "${text}": ${word} out of range`);
  }
}
