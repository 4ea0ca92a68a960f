/** From source text to words: names, numbers, texts, operators. */
import { CelProblem, type Constant } from "./ast.ts";

export type Token = { readonly at: number; readonly text: string } & (
  | { readonly kind: "name" | "operator" | "end" }
  | { readonly kind: "constant"; readonly value: Constant }
);

const space = /(?:\s|\/\/[^\n]*)+/y;
const number = /0x[0-9a-fA-F]+[uU]?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|\d+[uU]?/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedName = /`[A-Za-z0-9_.\-/ ]+`/y;
const operator = /&&|\|\||[<>=!]=|[-+*/%<>!?:.,()[\]{}]/y;
const text = /([rR]?[bB]?|[bB][rR])("""|'''|"|')/y;

const reserved: ReadonlySet<string> = new Set([
  ...["as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"],
  ...["namespace", "return", "var", "void", "while"],
]);

export const isReserved = (word: string): boolean => reserved.has(word);

const literals: Readonly<Record<string, Constant>> = { true: true, false: false, null: null };

export interface Words {
  readonly tokens: readonly Token[];
  /** What could not be read, and was passed over. */
  readonly problems: readonly CelProblem[];
}

export function tokenize(source: string): Words {
  const tokens: Token[] = [];
  const problems: CelProblem[] = [];
  for (let at = skip(source, 0); at < source.length; ) {
    const token = tokenAt(source, at);
    if ("token" in token) tokens.push(token.token);
    else
      problems.push(new CelProblem(at, `Syntax error: token recognition error at: '${source.slice(at, token.end)}'`));
    at = skip(source, token.end);
  }
  tokens.push({ kind: "end", at: source.length, text: "<EOF>" });
  return { tokens, problems };
}

type Read = { readonly token: Token; readonly end: number } | { readonly end: number };

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

const skip = (source: string, at: number): number => at + (matchAt(space, source, at)?.[0].length ?? 0);

function tokenAt(source: string, at: number): Read {
  const opening = matchAt(text, source, at);
  if (opening !== null) return textAt(source, at, opening);
  const digits = matchAt(number, source, at);
  if (digits !== null) return { token: numberToken(digits[0], at), end: at + digits[0].length };
  const word = matchAt(name, source, at);
  if (word !== null) {
    const end = at + word[0].length;
    const value = literals[word[0]];
    if (value !== undefined) return { token: { kind: "constant", at, text: word[0], value }, end };
    return { token: { kind: word[0] === "in" ? "operator" : "name", at, text: word[0] }, end };
  }
  if (matchAt(quotedName, source, at) !== null) throw new CelProblem(at, "unsupported syntax: '`'");
  const sign = matchAt(operator, source, at);
  if (sign !== null) return { token: { kind: "operator", at, text: sign[0] }, end: at + sign[0].length };
  // The first half of an operator is only seen to be none at the next character.
  return { end: at + (/[=&|]/.test(source[at] ?? "") ? Math.min(2, source.length - at) : 1) };
}

function numberToken(digits: string, at: number): Token {
  const token = (value: Constant): Token => ({ kind: "constant", at, text: digits, value });
  if (/[uU]$/.test(digits)) return token({ uint: BigInt(digits.slice(0, -1)) });
  return token(/^0x|^\d+$/.test(digits) ? BigInt(digits) : Number(digits));
}

function textAt(source: string, at: number, [whole, prefix = "", quote = '"']: RegExpExecArray): Read {
  const isRaw = /r/i.test(prefix);
  const isBytes = /b/i.test(prefix);
  const start = at + whole.length;
  let end = start;
  while (end < source.length && !source.startsWith(quote, end)) {
    if (quote.length === 1 && source[end] === "\n") break;
    end += !isRaw && source[end] === "\\" ? 2 : 1;
  }
  if (!source.startsWith(quote, end)) return { end: Math.min(end, source.length) };
  const inner = source.slice(start, end);
  const value = isRaw ? inner : unescaped(inner, at, isBytes);
  const constant: Constant = isBytes ? Uint8Array.from(Buffer.from(value, isRaw ? "utf8" : "latin1")) : value;
  return {
    token: { kind: "constant", at, text: source.slice(at, end + quote.length), value: constant },
    end: end + quote.length,
  };
}

const simpleEscapes: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?" },
};
const escapeSequence =
  /\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))/gs;

/** Bytes are kept one to a character here (latin1), so that \xff stays one byte. */
function unescaped(raw: string, at: number, isBytes: boolean): string {
  const plain = isBytes ? Buffer.from(raw, "utf8").toString("latin1") : raw;
  return plain.replace(escapeSequence, (_all, ...groups: (string | undefined)[]) => {
    const [x, upperX, u, upperU, octal, letter] = groups;
    const hexadecimal = x ?? upperX ?? u ?? upperU;
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    const simple = simpleEscapes[letter ?? ""];
    if (simple === undefined) throw new CelProblem(at, `unable to unescape string`);
    return simple;
  });
}
