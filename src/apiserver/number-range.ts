/**
 * Numbers beyond what a float64 holds: JSON.parse makes them infinite, and printed again they are null. Go refuses them
 * wherever it decodes a value without knowing its type.
 */
import type { JsonValue } from "../base/json.ts";
import { endOfString } from "./duplicates.ts";
import { badRequest } from "./status.ts";

/** A number that long, or with that exponent, may be too large; most texts have none. */
const mayOverflow = /\d[eE]\+?\d\d|\d{309}/;
const quote = 34;
const numeral = /-?\d[\d.eE+-]*/y;

/** The first number of a JSON text that no float64 can hold, as it is written there. */
export function numberOutOfRange(text: string): string | undefined {
  if (!mayOverflow.test(text)) return undefined;
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) === quote) {
      at = endOfString(text, at) + 1;
      continue;
    }
    numeral.lastIndex = at;
    const [written = ""] = numeral.exec(text) ?? [];
    if (written !== "" && !Number.isFinite(Number(written))) return written;
    at += Math.max(1, written.length);
  }
  return undefined;
}

/** In the words of Go's JSON decoder; `before` names what was being decoded, `into` the type. */
export function refuseOutOfRange(text: string, before: string, into = "Go value of type float64"): void {
  const written = numberOutOfRange(text);
  if (written !== undefined) throw badRequest(`${before}json: cannot unmarshal number ${written} into ${into}`);
}

export function holdsInfinite(value: JsonValue | undefined): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsInfinite);
}
