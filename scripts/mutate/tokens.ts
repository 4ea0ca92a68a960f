/** JavaScript in tokens, as far as a mutation needs it: what is code, what is text, and which brackets belong together. */

export interface Token {
  readonly kind: "word" | "number" | "text" | "sign";
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** A bracket has the index of the other one. */
  pair?: number;
}

const signs = [
  ["===", "!==", "**=", "...", ">>>", "<<=", ">>=", "&&=", "||=", "??="],
  ["=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "**", "<<", ">>"],
].flat();

/** After these a slash begins a regular expression, and a square bracket an array. */
const endsValue = (before: Token | undefined): boolean =>
  before !== undefined &&
  (before.kind === "number" ||
    before.kind === "text" ||
    (before.kind === "word" &&
      !/^(return|throw|case|of|in|await|yield|typeof|void|new|else|default|const|let)$/.test(before.text)) ||
    [")", "]", "}"].includes(before.text));

export const isArray = (token: Token, before: Token | undefined): boolean => token.text === "[" && !endsValue(before);

const [blank, word, number, text, regex, template] = [
  /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y,
  /[A-Za-z_$#][\w$]*/y,
  /\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?/y,
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/y,
  /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+\/[a-z]*/y,
  /(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/y,
];

export function tokensOf(code: string): readonly Token[] {
  const tokens: Token[] = [];
  /** Open braces and templates: a brace that closes a "${" goes on with text. */
  const open: string[] = [];
  for (let at = 0; at < code.length; ) {
    const skipped = matched(blank, code, at);
    const token = skipped === undefined ? tokenAt(code, at, tokens.at(-1), open) : undefined;
    if (token !== undefined) tokens.push(token);
    at = token?.end ?? at + (skipped?.length ?? 1);
  }
  return paired(tokens);
}

function matched(form: RegExp, code: string, at: number): string | undefined {
  form.lastIndex = at;
  return form.exec(code)?.[0];
}

function tokenAt(code: string, start: number, before: Token | undefined, open: string[]): Token {
  const token = (kind: Token["kind"], found: string): Token => ({
    kind,
    text: found,
    start,
    end: start + found.length,
  });
  for (const [kind, form] of [["word", word] as const, ["number", number] as const, ["text", text] as const]) {
    const found = matched(form, code, start);
    if (found !== undefined) return token(kind, found);
  }
  const sign = signs.find((one) => code.startsWith(one, start)) ?? code.charAt(start);
  if (sign === "/" && !endsValue(before)) return token("text", matched(regex, code, start) ?? sign);
  const closed = sign === "}" ? open.pop() : undefined;
  if (sign === "`" || closed === "template") {
    const piece = `${sign}${matched(template, code, start + 1) ?? ""}`;
    if (piece.endsWith("${")) open.push("template");
    return token("text", piece);
  }
  if (sign === "{") open.push(sign);
  return token("sign", sign);
}

/** A template's pieces are brackets too: "`a${" and "}b`". */
const opens = ({ kind, text: found }: Token): boolean =>
  kind === "sign" ? ["(", "[", "{"].includes(found) : kind === "text" && found.endsWith("${");
const closes = ({ kind, text: found }: Token): boolean =>
  kind === "sign" ? [")", "]", "}"].includes(found) : kind === "text" && found.startsWith("}");

function paired(tokens: Token[]): readonly Token[] {
  const waiting: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (closes(token)) {
      const other = waiting.pop() ?? index;
      token.pair = other;
      const first = tokens[other];
      if (first !== undefined && !closes(first)) first.pair = index;
    }
    if (opens(token)) waiting.push(index);
  }
  return tokens;
}
