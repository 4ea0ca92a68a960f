/** What can be done with texts: CEL's own, its strings extension, and Kubernetes' regular expressions. */

import { goRegExp } from "../../go-regexp.ts";
import { goFloat, goQuote } from "../../go-text.ts";
import { fn, integer, type Library, list, method, text } from "../functions.ts";
import { listOf, types } from "../types.ts";
import { CelFault, isList, isMap, isTagged, itemsOf, listFrom, numberOf, type Value } from "../value.ts";
import { printCelDuration, printTimestamp } from "./time.ts";

const { bool, int, string, dyn } = types;

/** Positions count characters (code points), as in Go's runes. */
const characters = (value: string): string[] => [...value];

function matches(subject: string, pattern: string): boolean {
  const compiled = goRegExp(pattern);
  if (compiled.problem !== undefined) throw new CelFault(`error parsing regexp: ${compiled.problem}`);
  return compiled.test(subject);
}

function indexOf(subject: string, part: string, from: bigint): bigint {
  const [all, wanted] = [characters(subject), characters(part)];
  if (from < 0n || from > BigInt(all.length)) throw new CelFault(`index out of range: ${from}`);
  if (wanted.length === 0) return from;
  for (let at = Number(from); at + wanted.length <= all.length; at++)
    if (wanted.every((character, offset) => all[at + offset] === character)) return BigInt(at);
  return -1n;
}

function lastIndexOf(subject: string, part: string, from?: bigint): bigint {
  const [all, wanted] = [characters(subject), characters(part)];
  if (from !== undefined && (from < 0n || from > BigInt(all.length))) throw new CelFault(`index out of range: ${from}`);
  const start = from === undefined ? all.length - wanted.length : Number(from);
  if (wanted.length === 0) return from ?? BigInt(all.length);
  for (let at = Math.min(start, all.length - wanted.length); at >= 0; at--)
    if (wanted.every((character, offset) => all[at + offset] === character)) return BigInt(at);
  return -1n;
}

function substring(subject: string, start: bigint, end?: bigint): string {
  const all = characters(subject);
  const stop = end ?? BigInt(all.length);
  if (start < 0n || start > BigInt(all.length)) throw new CelFault(`index out of range: ${start}`);
  if (stop < 0n || stop > BigInt(all.length)) throw new CelFault(`index out of range: ${stop}`);
  if (start > stop) throw new CelFault(`invalid substring range. start: ${start}, end: ${stop}`);
  return all.slice(Number(start), Number(stop)).join("");
}

function charAt(subject: string, at: bigint): string {
  const all = characters(subject);
  if (at < 0n || at > BigInt(all.length)) throw new CelFault(`index out of range: ${at}`);
  return all[Number(at)] ?? "";
}

function replaced(subject: string, old: string, by: string, times = -1n): string {
  if (times === 0n) return subject;
  const parts = old === "" ? ["", ...characters(subject), ""] : subject.split(old);
  const count = times < 0n ? parts.length - 1 : Math.min(Number(times), parts.length - 1);
  const head = parts.slice(0, count + 1).join(by);
  const tail = parts.slice(count + 1);
  return tail.length === 0 ? head : [head, ...tail].join(old);
}

function split(subject: string, separator: string, times = -1n): Value {
  if (times === 0n) return listFrom([]);
  const parts = separator === "" ? characters(subject) : subject.split(separator);
  if (times < 0n || BigInt(parts.length) <= times) return listFrom(parts);
  const kept = Number(times) - 1;
  return listFrom([...parts.slice(0, kept), parts.slice(kept).join(separator)]);
}

const ascii = (value: string, from: RegExp, shift: (character: string) => string): string => value.replace(from, shift);
const lower = (value: string): string => ascii(value, /[A-Z]/g, (character) => character.toLowerCase());
const upper = (value: string): string => ascii(value, /[a-z]/g, (character) => character.toUpperCase());

function findAll(subject: string, pattern: string, max = -1): readonly string[] {
  const compiled = goRegExp(pattern);
  if (compiled.problem !== undefined) throw new CelFault(`Illegal regex: error parsing regexp: ${compiled.problem}`);
  return compiled.findAll(subject, max);
}

const joined = (of: Value | undefined, separator: string): string => itemsOf(list(of)).map(text).join(separator);

/** How %s prints a value. */
function shown(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return goFloat(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (isList(value)) return `[${itemsOf(value).map(shown).join(", ")}]`;
  if (isMap(value)) {
    const entries = value.keys().map((key) => `${shown(key)}: ${shown(value.get(key) ?? null)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  if (isTagged(value) && value.kind === "timestamp") return printTimestamp(value.nanos);
  if (isTagged(value) && value.kind === "duration") return printCelDuration(value.nanos);
  if (isTagged(value) && value.kind === "type") return value.name;
  return String(numberOf(value) ?? value);
}

const clause = /%(?:\.(\d+))?([sdfebxXo%])/g;

function formatted(template: string, args: readonly Value[]): string {
  let next = 0;
  return template.replace(clause, (_all, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    const value = args[next];
    if (value === undefined) throw new CelFault(`index ${next} out of range`);
    next += 1;
    return formattedOne(verb, value, precision === undefined ? 6 : precisionOf(precision));
  });
}

/** As many as the platform prints. */
const precisionMax = 100;

function precisionOf(digits: string): number {
  if (Number(digits) > precisionMax) throw new CelFault(`error during formatting: precision ${digits} is too large`);
  return Number(digits);
}

/** What lies exactly in the middle is rounded to the even digit, as in Go; `toFixed` rounds it up. */
function fixed(number: number, precision: number): string {
  const text = number.toFixed(precision);
  const last = Number(text.at(-1));
  // Half of the last digit is a power of two here, or it is not exactly the middle.
  const isMiddle = Math.abs(number * 2 ** (precision + 1)) % 2 === 1;
  return isMiddle && last % 2 === 1 ? `${text.slice(0, -1)}${last - 1}` : text;
}

/** What Go's unicode.IsSpace calls a space; JavaScript's trim knows another one, and not all of these. */
const space = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const outerSpace = new RegExp(`^${space}|${space}$`, "g");

function formattedOne(verb: string, value: Value, precision: number): string {
  if (verb === "s") return shown(value);
  const number = typeof value === "boolean" ? Number(value) : numberOf(value);
  if (verb === "x" || verb === "X") {
    const bytes = typeof value === "string" || value instanceof Uint8Array ? Buffer.from(value) : undefined;
    const text = bytes?.toString("hex") ?? (number ?? 0).toString(16);
    return verb === "X" ? text.toUpperCase() : text;
  }
  if (number === undefined)
    throw new CelFault(`error during formatting: %${verb} clause cannot be used with this type`);
  switch (verb) {
    case "f":
      return fixed(Number(number), precision);
    case "e":
      return Number(number)
        .toExponential(precision)
        .replace(/e([+-])(\d)$/, "e$10$2");
    case "b":
      return number.toString(2);
    case "o":
      return number.toString(8);
    default:
      return String(number);
  }
}

export const texts: Library = {
  startsWith: [method([string, string], bool, ([value, part]) => text(value).startsWith(text(part)))],
  endsWith: [method([string, string], bool, ([value, part]) => text(value).endsWith(text(part)))],
  contains: [method([string, string], bool, ([value, part]) => text(value).includes(text(part)))],
  matches: [
    fn([string, string], bool, ([value, pattern]) => matches(text(value), text(pattern))),
    method([string, string], bool, ([value, pattern]) => matches(text(value), text(pattern))),
  ],
  charAt: [method([string, int], string, ([value, at]) => charAt(text(value), integer(at)))],
  indexOf: [
    method([string, string], int, ([value, part]) => indexOf(text(value), text(part), 0n)),
    method([string, string, int], int, ([value, part, from]) => indexOf(text(value), text(part), integer(from))),
  ],
  lastIndexOf: [
    method([string, string], int, ([value, part]) => lastIndexOf(text(value), text(part))),
    method([string, string, int], int, ([value, part, from]) => lastIndexOf(text(value), text(part), integer(from))),
  ],
  lowerAscii: [method([string], string, ([value]) => lower(text(value)))],
  upperAscii: [method([string], string, ([value]) => upper(text(value)))],
  replace: [
    method([string, string, string], string, ([value, old, by]) => replaced(text(value), text(old), text(by))),
    method([string, string, string, int], string, ([value, old, by, times]) =>
      replaced(text(value), text(old), text(by), integer(times)),
    ),
  ],
  split: [
    method([string, string], listOf(string), ([value, separator]) => split(text(value), text(separator))),
    method([string, string, int], listOf(string), ([value, separator, times]) =>
      split(text(value), text(separator), integer(times)),
    ),
  ],
  substring: [
    method([string, int], string, ([value, start]) => substring(text(value), integer(start))),
    method([string, int, int], string, ([value, start, end]) => substring(text(value), integer(start), integer(end))),
  ],
  trim: [method([string], string, ([value]) => text(value).replace(outerSpace, ""))],
  join: [
    method([listOf(string)], string, ([value]) => joined(value, "")),
    method([listOf(string), string], string, ([value, separator]) => joined(value, text(separator))),
  ],
  format: [method([string, listOf(dyn)], string, ([value, args]) => formatted(text(value), itemsOf(list(args))))],
  "strings.quote": [fn([string], string, ([value]) => goQuote(text(value)))],
  find: [method([string, string], string, ([value, pattern]) => findAll(text(value), text(pattern), 1)[0] ?? "")],
  findAll: [
    method([string, string], listOf(string), ([value, pattern]) => listFrom(findAll(text(value), text(pattern)))),
    method([string, string, int], listOf(string), ([value, pattern, max]) =>
      listFrom(findAll(text(value), text(pattern), Number(integer(max)))),
    ),
  ],
};
