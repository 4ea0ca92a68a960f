/**
 * The kinds of flags there are. A flag row knows how to read its text, how to print its value, and how to say what it
 * expects; `flags.ts` reads a command line with them, `help.ts` prints them.
 */
import type { Millis } from "../base/brand.ts";
import { parseDuration, printDuration } from "../base/duration.ts";
import type { Quantity } from "../base/quantity.ts";
import { parseQuantity, printQuantity } from "../base/quantity.ts";

export interface Flag<T> {
  readonly type: string;
  readonly default: T;
  readonly help: string;
  /** Completes "expected …". */
  readonly expects: string;
  /** Undefined when the text is not a value of this kind. `before` is what earlier mentions of the flag gave, if any did. */
  read(text: string, before: T | undefined): T | undefined;
  print(value: T): string;
  /** The error for a text that `read` rejects, with the valid values, if "expected …" is not enough. */
  explain?(text: string): string;
  /** Where `--flag` alone, without a value, is complete. */
  readonly alone?: T;
  /** The flag's name where it is not the row's key in kebab case. */
  readonly name?: string | undefined;
  /** One letter for people who type it often: "o" for -o. */
  readonly short?: string | undefined;
  readonly group?: string | undefined;
  /** A value that works, for error messages; the default where absent. */
  readonly example?: string | undefined;
  /** Read when the flag is not given. */
  readonly environment?: string | undefined;
  /** Old names, each with the word to its users. */
  readonly deprecated?: Readonly<Record<string, string>> | undefined;
  /** Accepted, but not shown in --help. */
  readonly hidden?: true | undefined;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type Options<T extends FlagTable> = { readonly [K in keyof T]: T[K] extends Flag<infer Value> ? Value : never };

/** What every row may say, whatever its kind. */
interface Row<T>
  extends Pick<Flag<T>, "help" | "name" | "short" | "group" | "example" | "environment" | "deprecated" | "hidden"> {
  readonly default: T;
}

export const text = (row: Row<string> & { readonly required?: true }): Flag<string> => ({
  ...row,
  type: "string",
  expects: row.required === true ? "a text that is not empty" : "a text",
  read: (given) => (row.required === true && given === "" ? undefined : given),
  print: (value) => value,
});

const bools: Readonly<Record<string, boolean>> = { "1": true, "0": false, t: true, f: false, true: true, false: false };

export const bool = (row: Row<boolean>): Flag<boolean> => ({
  ...row,
  type: "bool",
  expects: "true or false",
  read: (given) => (Object.hasOwn(bools, given.toLowerCase()) ? bools[given.toLowerCase()] : undefined),
  print: String,
  alone: true,
});

interface Range {
  readonly min?: number;
  readonly max?: number;
}

const within = (value: number, { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Range): boolean =>
  value >= min && value <= max;

const rangeText = ({ min, max }: Range, print: (value: number) => string = String): string => {
  if (min !== undefined && max !== undefined) return ` from ${print(min)} to ${print(max)}`;
  if (min !== undefined) return ` of at least ${print(min)}`;
  return max === undefined ? "" : ` of at most ${print(max)}`;
};

export const integer = (row: Row<number> & Range): Flag<number> => ({
  ...row,
  type: "int",
  expects: `a whole number${rangeText(row)}`,
  read: (given) => {
    const value = /^[+-]?\d+$|^0x[\da-f]+$/i.test(given) ? Number(given) : Number.NaN;
    return Number.isSafeInteger(value) && within(value, row) ? value : undefined;
  },
  print: String,
});

export const decimal = (row: Row<number> & Range): Flag<number> => ({
  ...row,
  type: "float",
  expects: `a number${rangeText(row)}`,
  read: (given) => {
    const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given) ? Number(given) : Number.NaN;
    return Number.isFinite(value) && within(value, row) ? value : undefined;
  },
  print: String,
});

/** Held in milliseconds. */
export const duration = (row: Row<Millis> & Range): Flag<Millis> => ({
  ...row,
  type: "duration",
  expects: `a duration${rangeText(row, printDuration)}, written like 1m30s, 15s or 500ms`,
  read: (given) => {
    const value = parseDuration(given);
    return value !== undefined && within(value, row) ? value : undefined;
  },
  print: printDuration,
});

/** "10Mi", "1.5Gi", "500m". */
export const quantity = (row: Row<Quantity>): Flag<Quantity> => ({
  ...row,
  type: "quantity",
  expects: "a quantity, written like 10Mi, 1.5Gi or 500",
  read: (given) => {
    try {
      return parseQuantity(given);
    } catch {
      return undefined;
    }
  },
  print: printQuantity,
});

/** An empty word is the default of a flag that need not be given: it is accepted, and not shown. */
export const oneOf = <T extends string>(words: readonly T[], row: Row<T>): Flag<T> => {
  const shown = words.filter((word) => word !== "");
  return {
    ...row,
    type: shown.join("|"),
    expects: shown.length === 2 ? shown.join(" or ") : `one of ${shown.join(", ")}`,
    read: (given) => words.find((word) => word === given),
    print: (value) => value,
  };
};

/** Commas separate; a second mention adds. */
export const list = (row: Row<readonly string[]>): Flag<readonly string[]> => ({
  ...row,
  type: "strings",
  expects: "words separated by commas",
  read: (given, before = []) => [...before, ...split(given)],
  print: (value) => value.join(","),
});

/** `k:v,k2:v2`; a second mention adds. */
export const mapping = (row: Row<Readonly<Record<string, string>>>): Flag<Readonly<Record<string, string>>> => ({
  ...row,
  type: "key:value,…",
  expects: "pairs written like key:value,other:value",
  read: (given, before = {}) => {
    const pairs = pairsOf(given, ":");
    return pairs === undefined ? undefined : { ...before, ...Object.fromEntries(pairs) };
  },
  print: (value) =>
    Object.entries(value)
      .map((pair) => pair.join(":"))
      .join(","),
});

export type Gates = Readonly<Record<string, boolean>>;

/**
 * `Name=true,Other=false`, laid over the defaults. A name outside of `known` is refused, except those of `ignored`:
 * gates that the replaced program knew and that mean nothing here. Given ones are returned too, for a log message.
 */
export const featureGates = <T extends Gates>(
  known: T,
  {
    ignored = [],
    aliases = {},
    ...row
  }: Partial<Row<T>> & {
    readonly ignored?: readonly string[];
    /** Other names of known gates. */
    readonly aliases?: Readonly<Record<string, keyof T & string>>;
  } = {},
): Flag<{ readonly [K in keyof T]: boolean }> => ({
  help: "Feature gates to enable or disable.",
  name: "feature-gates",
  ...row,
  default: known,
  type: "name=bool,…",
  expects: `gates written like Name=true,Other=false, each one of ${[...Object.keys(known), ...Object.keys(aliases)].join(", ")}${ignored.length > 0 ? ` (or one of ${ignored.length} that are accepted and ignored)` : ""}`,
  read: (given, before = known) => {
    const pairs = pairsOf(given, "=");
    if (pairs === undefined) return undefined;
    const merged: Record<string, boolean> = { ...before };
    for (const [written, word] of pairs) {
      const name = (Object.hasOwn(aliases, written) && aliases[written]) || written;
      const value = bools[word.toLowerCase()];
      if (value === undefined || !(Object.hasOwn(known, name) || ignored.includes(name))) return undefined;
      merged[name] = value;
    }
    return merged as { readonly [K in keyof T]: boolean };
  },
  print: (value) =>
    Object.entries(value)
      .map((pair) => pair.join("="))
      .join(","),
});

const split = (given: string): string[] =>
  given
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

function pairsOf(given: string, separator: string): readonly (readonly [string, string])[] | undefined {
  const pairs = split(given).map((pair) => {
    const at = pair.indexOf(separator);
    return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()] as const;
  });
  return pairs.some(([key]) => key === "") ? undefined : pairs;
}
