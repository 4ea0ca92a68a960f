/**
 * Go's regular expressions (RE2 syntax) as JavaScript's. The two differ in how flags are written inside of a pattern, in
 * POSIX classes, in the anchors \A and \z and in named groups; everything else is common ground.
 */
export interface Pattern {
  /** As written in the schema: it stands in messages. */
  readonly source: string;
  test(text: string): boolean;
  /** The matches from left to right, at most `max` of them unless that is negative. */
  findAll(text: string, max: number): readonly string[];
  /** Why the pattern is none. */
  readonly problem?: string;
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** The four shorthands mean ASCII in Go, and \s does not contain \v. */
const shorthands: Readonly<Record<string, { inside: string; alone: string }>> = {
  d: { inside: "0-9", alone: "[0-9]" },
  D: { inside: "\\D", alone: "[^0-9]" },
  w: { inside: "0-9A-Za-z_", alone: "[0-9A-Za-z_]" },
  W: { inside: "\\W", alone: "[^0-9A-Za-z_]" },
  s: { inside: "\\t\\n\\f\\r ", alone: "[\\t\\n\\f\\r ]" },
  S: { inside: "\\S", alone: "[^\\t\\n\\f\\r ]" },
};

/** What may stand after a backslash in a JavaScript pattern with the "u" flag. */
const plainEscapes = /[\^$\\.*+?()[\]{}|/]/;

interface Cursor {
  readonly source: string;
  at: number;
  flags: string;
}

const cache = new Map<string, Pattern>();
const cachedPatternsMax = 2_000;

export function goRegExp(source: string): Pattern {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const made = compile(source);
  if (cache.size >= cachedPatternsMax) cache.clear();
  cache.set(source, made);
  return made;
}

function compile(source: string): Pattern {
  const cursor: Cursor = { source, at: 0, flags: "" };
  try {
    const translated = translate(cursor);
    const expression = new RegExp(translated, `u${cursor.flags}`);
    const findAll = (text: string, max: number): readonly string[] => {
      const found = [...text.matchAll(new RegExp(expression, `${expression.flags}g`))].map(([match]) => match);
      return max < 0 ? found : found.slice(0, max);
    };
    return { source, test: (text) => expression.test(text), findAll };
  } catch (reason) {
    const problem = reason instanceof Error ? reason.message : String(reason);
    return { source, test: () => false, findAll: () => [], problem };
  }
}

function translate(cursor: Cursor): string {
  let out = "";
  while (cursor.at < cursor.source.length) {
    const character = cursor.source[cursor.at];
    if (character === "\\") out += escapeOutside(cursor);
    else if (character === "[") out += bracket(cursor);
    else if (character === "(" && cursor.source[cursor.at + 1] === "?") out += group(cursor);
    else out += plain(cursor);
  }
  return out;
}

/** A brace that opens no repetition, and a closing bracket, are letters in Go and errors in JavaScript. */
function plain(cursor: Cursor): string {
  const character = String.fromCodePoint(cursor.source.codePointAt(cursor.at) ?? 0);
  if (character === "{") {
    const repetition = /^\{\d+(,\d*)?\}/.exec(cursor.source.slice(cursor.at));
    cursor.at += repetition === null ? 1 : repetition[0].length;
    return repetition === null ? "\\{" : repetition[0];
  }
  cursor.at += character.length;
  return character === "}" || character === "]" ? `\\${character}` : character;
}

function group(cursor: Cursor): string {
  const rest = cursor.source.slice(cursor.at);
  const named = /^\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>/.exec(rest);
  if (named !== null) {
    cursor.at += named[0].length;
    return `(?<${named[1]}>`;
  }
  const flags = /^\(\?([imsU]*)(-[imsU]+)?([:)])/.exec(rest);
  if (flags === null) throw new Error(`invalid or unsupported Perl syntax: \`${rest.slice(0, 3)}\``);
  cursor.at += flags[0].length;
  const [, on = "", off = "", end] = flags;
  const unsupported = `${on}${off}`.replace(/[ims-]/g, "");
  if (unsupported !== "") throw new Error(`the flag ${unsupported} is not supported`);
  if (end === ":") return on === "" && off === "" ? "(?:" : `(?${on}${off}:`;
  if (cursor.at === flags[0].length && off === "") {
    cursor.flags = on;
    return "";
  }
  // Flags in the middle hold to the end of the enclosing group: wrap what remains of it.
  return wrapRest(cursor, `(?${on}${off}:`);
}

function wrapRest(cursor: Cursor, open: string): string {
  const end = endOfGroup(cursor.source, cursor.at);
  const inner: Cursor = { source: cursor.source.slice(cursor.at, end), at: 0, flags: "" };
  cursor.at = end;
  return `${open}${translate(inner)})`;
}

function endOfGroup(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    const character = source[at];
    if (character === "\\") at += 1;
    else if (character === "(") depth += 1;
    else if (character === ")" && depth-- === 0) return at;
  }
  return source.length;
}

function escapeOutside(cursor: Cursor): string {
  const letter = cursor.source[cursor.at + 1] ?? "";
  if (letter === "A" || letter === "z") return advance(cursor, 2, letter === "A" ? "(?<![^])" : "(?![^])");
  const shorthand = shorthands[letter];
  if (shorthand !== undefined) return advance(cursor, 2, shorthand.alone);
  if (letter === "Q") return quoted(cursor);
  if (letter === "b" || letter === "B") return advance(cursor, 2, `\\${letter}`);
  return escapeCommon(cursor);
}

function quoted(cursor: Cursor): string {
  const end = cursor.source.indexOf("\\E", cursor.at + 2);
  const literal = cursor.source.slice(cursor.at + 2, end === -1 ? undefined : end);
  return advance(cursor, literal.length + (end === -1 ? 2 : 4), literal.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&"));
}

function escapeCommon(cursor: Cursor): string {
  const rest = cursor.source.slice(cursor.at);
  const property = /^\\([pP])(?:\{(\^?)([^}]+)\}|([A-Z]))/.exec(rest);
  if (property !== null) return advance(cursor, property[0].length, propertyEscape(property));
  const hexadecimal = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
  if (hexadecimal !== null)
    return advance(cursor, hexadecimal[0].length, `\\u{${hexadecimal[1] ?? hexadecimal[2] ?? "0"}}`);
  const octal = /^\\([0-7]{3})/.exec(rest);
  if (octal !== null) return advance(cursor, 4, `\\u{${Number.parseInt(octal[1] ?? "0", 8).toString(16)}}`);
  const letter = rest[1] ?? "";
  if (letter === "a") return advance(cursor, 2, "\\x07");
  if (/[fnrtv]/.test(letter)) return advance(cursor, 2, `\\${letter}`);
  if (letter === "") throw new Error("trailing backslash at end of expression");
  if (/[0-9A-Za-z]/.test(letter)) throw new Error(`invalid escape sequence: \`\\${letter}\``);
  return advance(cursor, 2, plainEscapes.test(letter) ? `\\${letter}` : letter === "-" ? "\\x2d" : letter);
}

/** A one-letter property is a general category; a longer name in Go is a category or a script. */
function propertyEscape([, sign, negated, long, short]: RegExpExecArray): string {
  const name = long ?? short ?? "";
  const letter = negated === "^" ? (sign === "p" ? "P" : "p") : (sign ?? "p");
  return `\\${letter}{${name.length > 2 ? `Script=${name}` : name}}`;
}

function bracket(cursor: Cursor): string {
  let out = "[";
  cursor.at += 1;
  if (cursor.source[cursor.at] === "^") out += advance(cursor, 1, "^");
  let afterClass = false;
  for (let first = true; ; first = false) {
    const start = cursor.at;
    const character = cursor.source[start];
    if (character === undefined) throw new Error("missing closing ]");
    if (character === "]" && !first) return out + advance(cursor, 1, "]");
    // After a class a dash opens no range in Go; in JavaScript it would.
    out += character === "-" && afterClass ? advance(cursor, 1, "\\-") : bracketItem(cursor, character);
    afterClass = /^(\[:|\\[dDwWsSpP])/.test(cursor.source.slice(start, start + 2));
  }
}

function bracketItem(cursor: Cursor, character: string): string {
  if (character === "[") {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(cursor.source.slice(cursor.at));
    const inside = posixClasses[posix?.[2] ?? ""];
    if (posix === null || inside === undefined) return advance(cursor, 1, "\\[");
    if (posix[1] === "^") throw new Error("negated POSIX classes are not supported");
    return advance(cursor, posix[0].length, inside);
  }
  if (character === "\\") {
    const shorthand = shorthands[cursor.source[cursor.at + 1] ?? ""];
    return shorthand === undefined ? escapeCommon(cursor) : advance(cursor, 2, shorthand.inside);
  }
  if (character === "]") return advance(cursor, 1, "\\]");
  const whole = String.fromCodePoint(cursor.source.codePointAt(cursor.at) ?? 0);
  return advance(cursor, whole.length, /[()|{}/^$.*+?]/.test(whole) ? `\\${whole}` : whole);
}

function advance(cursor: Cursor, by: number, out: string): string {
  cursor.at += by;
  return out;
}
