/**
 * How the Go programs print values. Clients compare messages, so a quoted string, a float and a JSON value inside of
 * one must look the way Go's strconv and encoding/json make them look.
 */

const shortEscapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is being escaped.
const needsCare = /[\x00-\x1f"\\\x7f-\uffff]/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

/** strconv.Quote: "text" with Go's escapes. */
export function goQuote(text: string): string {
  if (!needsCare.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += shortEscapes[character] ?? escapedRune(character);
  return `${quoted}"`;
}

function escapedRune(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (printable.test(character)) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** fmt's %v of a decoded JSON number: a whole one is an int64 there, any other a float64. */
export const goNumber = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? String(value) : goFloat(value);

/** %v of a float64, which is also strconv's 'g': shortest digits, an exponent of two digits at least below 1e-4 and from 1e6 on. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  const size = Math.abs(value);
  if (size === Number.POSITIVE_INFINITY) return value > 0 ? "+Inf" : "-Inf";
  const [digits = "", exponent = "+0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (size === 0 || (power >= -4 && power < 6)) return Object.is(value, -0) ? "-0" : String(value);
  return `${digits}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, "0")}`;
}

const htmlEscapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** encoding/json's Marshal: keys sorted, and what could end a script element escaped. */
export function goJson(value: unknown): string {
  return goJsonPlain(value).replace(/[<>&\u2028\u2029]/g, (character) => htmlEscapes[character] ?? character);
}

/** A value that is already text: Go prints the fields of a struct in the order of their declaration, not sorted. */
export interface Verbatim {
  readonly verbatim: string;
}
export const verbatim = (text: string): Verbatim => Object.freeze({ [isVerbatim]: true, verbatim: text });
const isVerbatim = Symbol("verbatim");

/** JSON with keys as they stand: for objects built in the order of a Go struct. */
export const goStructJson = (value: unknown): Verbatim => verbatim(JSON.stringify(value));

function goJsonPlain(value: unknown): string {
  if (typeof value === "object" && value !== null && isVerbatim in value)
    return (value as unknown as Verbatim).verbatim;
  if (value === undefined || value === null) return "null";
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(goJsonPlain).join(",")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${goJsonPlain(item)}`).join(",")}}`;
}

/** fmt's %v of decoded JSON: map[a:1 b:[x y]]. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goValue(item)}`).join(" ")}]`;
}

/** What Go's JSON decoder calls a value: "json: cannot unmarshal number into …". */
export function jsonWord(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return typeof value === "boolean" ? "bool" : typeof value === "bigint" ? "number" : typeof value;
}
