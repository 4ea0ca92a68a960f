/** Go's regular expressions (RE2 syntax), parsed. Single characters and classes are kept as JavaScript writes them. */

export type Look = "begin" | "end" | "lineBegin" | "lineEnd" | "word" | "noWord";

export type Piece =
  /** One character, as a JavaScript pattern with the "u" flag. */
  | { readonly kind: "one"; readonly js: string; readonly anyCase: boolean }
  | { readonly kind: "look"; readonly look: Look }
  | { readonly kind: "all"; readonly of: readonly Piece[] }
  | { readonly kind: "any"; readonly of: readonly Piece[] }
  | { readonly kind: "repeat"; readonly of: Piece; readonly min: number; readonly max: number; readonly lazy: boolean };

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
  S: { inside: "\\x00-\\x08\\x0B\\x0E-\\x1F!-\\u{10FFFF}", alone: "[^\\t\\n\\f\\r ]" },
};

/** What may stand after a backslash in a JavaScript pattern with the "u" flag. */
const plainEscapes = /[\^$\\.*+?()[\]{}|/]/;

interface Cursor {
  readonly source: string;
  at: number;
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

const repeatsMax = 1_000;
const groupsDeepMax = 500;

export function parseGoRegExp(source: string): Piece {
  const cursor: Cursor = { source, at: 0 };
  const piece = parseGroup(cursor, { i: false, m: false, s: false }, 0);
  if (cursor.at < source.length) throw new Error(`unexpected ): \`${source}\``);
  if (repeatsIn(piece) > repeatsMax) throw new Error("invalid repeat count");
  return piece;
}

/** Up to the closing bracket of the group, or to the end. Flags hold from where they stand to the end of their group. */
function parseGroup(cursor: Cursor, outer: Flags, depth: number): Piece {
  if (depth > groupsDeepMax) throw new Error("expression nests too deeply");
  let flags = outer;
  const choices: Piece[][] = [[]];
  while (cursor.at < cursor.source.length && cursor.source[cursor.at] !== ")") {
    const pieces = choices.at(-1) ?? [];
    const switched = flagsAt(cursor, flags);
    if (switched !== undefined) flags = switched;
    else if (cursor.source[cursor.at] === "|") {
      cursor.at += 1;
      choices.push([]);
    } else if (!repeated(cursor, pieces)) pieces.push(...parseOne(cursor, flags, depth));
  }
  const all = choices.map((of): Piece => ({ kind: "all", of }));
  return all.length === 1 && all[0] !== undefined ? all[0] : { kind: "any", of: all };
}

/** "(?i)": no group, but a switch for the rest of this one. */
function flagsAt(cursor: Cursor, flags: Flags): Flags | undefined {
  const found = /^\(\?([ims]*)(?:-([ims]+))?\)/.exec(cursor.source.slice(cursor.at, cursor.at + 12));
  if (found === null || found[0] === "(?)") return undefined;
  cursor.at += found[0].length;
  return withFlags(flags, found[1], found[2]);
}

const withFlags = (flags: Flags, on = "", off = ""): Flags => ({
  i: (flags.i || on.includes("i")) && !off.includes("i"),
  m: (flags.m || on.includes("m")) && !off.includes("m"),
  s: (flags.s || on.includes("s")) && !off.includes("s"),
});

/** A repetition is of the last piece. */
function repeated(cursor: Cursor, pieces: Piece[]): boolean {
  const found = /^(?:([*+?])|\{(\d+)(,(\d*))?\})(\??)/.exec(cursor.source.slice(cursor.at, cursor.at + 40));
  if (found === null) return false;
  const [text, sign, least, comma, most, lazy] = found;
  const of = pieces.pop();
  if (of === undefined) throw new Error(`missing argument to repetition operator: \`${text}\``);
  const next = cursor.source.slice(cursor.at + text.length);
  if (/^(?:[*+?]|\{\d+(,\d*)?\})/.test(next))
    throw new Error(`invalid nested repetition operator: \`${text}${next[0]}\``);
  cursor.at += text.length;
  const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
  const bounded = comma === undefined ? min : most === "" ? Number.POSITIVE_INFINITY : Number(most);
  const max = sign === undefined ? bounded : sign === "?" ? 1 : Number.POSITIVE_INFINITY;
  if (min > repeatsMax || (max > repeatsMax && Number.isFinite(max)) || min > max)
    throw new Error(`invalid repeat count: \`${text}\``);
  pieces.push({ kind: "repeat", of, min, max, lazy: lazy === "?" });
  return true;
}

/** How often the innermost piece stands there once all counts are written out. */
function repeatsIn(piece: Piece): number {
  if (piece.kind === "repeat")
    return Math.max(1, Number.isFinite(piece.max) ? piece.max : piece.min) * repeatsIn(piece.of);
  return piece.kind === "all" || piece.kind === "any"
    ? piece.of.reduce((most, inner) => Math.max(most, repeatsIn(inner)), 1)
    : 1;
}

function parseOne(cursor: Cursor, flags: Flags, depth: number): readonly Piece[] {
  const one = (js: string): Piece => ({ kind: "one", js, anyCase: flags.i });
  const look = (of: Look): readonly Piece[] => [{ kind: "look", look: advance(cursor, 1, of) }];
  const character = String.fromCodePoint(cursor.source.codePointAt(cursor.at) ?? 0);
  switch (character) {
    case "(":
      return [parseBrackets(cursor, flags, depth)];
    case "[":
      return [one(bracket(cursor))];
    case "\\":
      return parseEscape(cursor, one);
    case ".":
      return [one(advance(cursor, 1, flags.s ? "[^]" : "[^\\n]"))];
    case "^":
      return look(flags.m ? "lineBegin" : "begin");
    case "$":
      return look(flags.m ? "lineEnd" : "end");
    default:
      return [one(advance(cursor, character.length, literal(character)))];
  }
}

const literal = (character: string): string => character.replace(/[\^$\\.*+?()[\]{}|/]/, "\\$&");

function parseBrackets(cursor: Cursor, flags: Flags, depth: number): Piece {
  const rest = cursor.source.slice(cursor.at, cursor.at + 200);
  const opened = /^\((?:\?P?<[A-Za-z0-9_]+>|\?([ims]*)(?:-([ims]+))?:|(?!\?))/.exec(rest);
  if (opened === null) throw new Error(`invalid or unsupported Perl syntax: \`${rest.slice(0, 3)}\``);
  cursor.at += opened[0].length;
  const inner = parseGroup(cursor, withFlags(flags, opened[1], opened[2]), depth + 1);
  if (cursor.source[cursor.at] !== ")") throw new Error(`missing closing ): \`${cursor.source}\``);
  cursor.at += 1;
  return inner;
}

const looks: Readonly<Record<string, Look>> = { A: "begin", z: "end", b: "word", B: "noWord" };

function parseEscape(cursor: Cursor, one: (js: string) => Piece): readonly Piece[] {
  const letter = cursor.source[cursor.at + 1] ?? "";
  const look = looks[letter];
  if (look !== undefined) return [{ kind: "look", look: advance(cursor, 2, look) }];
  const shorthand = shorthands[letter];
  if (shorthand !== undefined) return [one(advance(cursor, 2, shorthand.alone))];
  if (letter !== "Q") return [one(escapeCommon(cursor))];
  const end = cursor.source.indexOf("\\E", cursor.at + 2);
  const quoted = cursor.source.slice(cursor.at + 2, end === -1 ? undefined : end);
  cursor.at = end === -1 ? cursor.source.length : end + 2;
  return [...quoted].map((character) => one(literal(character)));
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

function advance<T extends string>(cursor: Cursor, by: number, out: T): T {
  cursor.at += by;
  return out;
}
