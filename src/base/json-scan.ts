/** Finds integers beyond 2^53 in JSON text and puts them back after parsing has rounded them. */
import type { JsonValue } from "./json.ts";

const quote = 34;
const backslash = 92;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Where the string ends whose opening quote stands at `at`: behind its closing quote. */
function afterString(text: string, at: number): number {
  let end = at + 1;
  for (let code = text.charCodeAt(end); end < text.length && code !== quote; code = text.charCodeAt(end))
    end += code === backslash ? 2 : 1;
  return end + 1;
}

/** Shorter integers are exact as a number. */
const digitsMin = 16;

/**
 * Whether there may be an integer beyond 2^53. A run of sixteen digits covers a place that is a multiple of sixteen, so only
 * those are looked at: a regular expression over the whole text would cost half as much as parsing it.
 */
export function mayHoldLargeInteger(text: string): boolean {
  for (let at = digitsMin - 1; at < text.length; at += digitsMin)
    if (isDigit(text.charCodeAt(at)) && digitsAround(text, at) >= digitsMin) return true;
  return false;
}

function digitsAround(text: string, at: number): number {
  let [first, last] = [at, at];
  while (isDigit(text.charCodeAt(first - 1))) first -= 1;
  while (isDigit(text.charCodeAt(last + 1))) last += 1;
  return last - first + 1;
}

/**
 * The integers of sixteen or more digits, by the number they are rounded to. Undefined when a rounded number does not tell
 * which text it came from: two different integers, or a fraction that may be the same number.
 */
export function largeIntegersIn(text: string): ReadonlyMap<number, string> | undefined {
  const found = new Map<number, string>();
  let hasFraction = false;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) at = afterString(text, at);
    else if (isDigit(code)) {
      const end = afterNumber(text, at);
      const isWhole = end === afterDigits(text, at);
      hasFraction ||= !isWhole;
      if (isWhole && end - at >= digitsMin && !remember(found, text.slice(text[at - 1] === "-" ? at - 1 : at, end)))
        return undefined;
      at = end;
    } else at += 1;
  }
  return hasFraction && found.size > 0 ? undefined : found;
}

function remember(found: Map<number, string>, digits: string): boolean {
  const rounded = Number(digits);
  const known = found.get(rounded);
  found.set(rounded, digits);
  return known === undefined || known === digits;
}

function afterDigits(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** Signs stand only behind an exponent's "e" here, as the number's own was before its first digit. */
function afterNumber(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end)) || "+-.eE".includes(text.charAt(end) || " ")) end += 1;
  return end;
}

/** Puts the integers back that parsing has rounded. Changes its argument. */
export function restoreLargeIntegers(value: JsonValue, integers: ReadonlyMap<number, string>): JsonValue {
  if (typeof value === "number") {
    const digits = Number.isSafeInteger(value) ? undefined : integers.get(value);
    return digits === undefined ? value : BigInt(digits);
  }
  if (typeof value !== "object" || value === null) return value;
  const container = value as Record<string, JsonValue>;
  for (const key of Object.keys(container)) {
    const old = container[key] as JsonValue;
    const restored = restoreLargeIntegers(old, integers);
    if (restored === old) continue;
    // Plain assignment would call the setter of "__proto__".
    if (key === "__proto__") Object.defineProperty(container, key, { value: restored });
    else container[key] = restored;
  }
  return value;
}
