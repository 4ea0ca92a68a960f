/**
 * The small mutations of a file: an operator swapped, a condition negated, a returned value made constant, an array element dropped.
 * Types are no program: they are blanked before, and positions stay.
 */
import { stripTypeScriptTypes } from "node:module";
import { Script } from "node:vm";
import { isArray, type Token, tokensOf } from "./tokens.ts";

export interface Mutation {
  readonly kind: "operator" | "condition" | "constant" | "element";
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const swapped: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "+=": "-=",
};

export function mutationsOf(source: string): readonly Mutation[] {
  const code = withoutTypes(source);
  const tokens = tokensOf(code);
  const found = tokens.flatMap((_, index) => [
    ...operator(tokens, index),
    ...condition(tokens, index, code),
    ...constant(tokens, index, code),
    ...elements(tokens, index),
  ]);
  return found.filter(
    (mutation) => mutation.text !== source.slice(mutation.start, mutation.end) && parses(code, mutation),
  );
}

/** Node says once that this function may change; whoever reads the result of a test need not know. */
function withoutTypes(source: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source, { mode: "strip" });
  } finally {
    process.emitWarning = emitWarning;
  }
}

export const mutated = (source: string, { start, end, text }: Mutation): string =>
  `${source.slice(0, start)}${text}${source.slice(end)}`;

/** Imports and exports are no part of a script. */
function parses(code: string, mutation: Mutation): boolean {
  const script = mutated(code, mutation)
    .replace(/^import\s[^;]*;/gm, "")
    .replace(/^export\s+(\{[^}]*\}[^;]*;)?/gm, "");
  try {
    new Script(`(async () => {${script}\n});`);
    return true;
  } catch {
    return false;
  }
}

function operator(tokens: readonly Token[], index: number): readonly Mutation[] {
  const { kind, text, start, end } = tokens[index] as Token;
  const other = kind === "sign" ? swapped[text] : undefined;
  return other === undefined ? [] : [{ kind: "operator", start, end, text: other }];
}

function condition(tokens: readonly Token[], index: number, code: string): readonly Mutation[] {
  const { kind, text, start, end } = tokens[index] as Token;
  const negated = (from: number, to: number): readonly Mutation[] => {
    const negative = code.slice(from, to).trim();
    // One comparison: its operator is swapped already.
    if (/^[^=!&|?<>]+ [!=]== [^=!&|?<>]+$/.test(negative)) return [];
    return [{ kind: "condition", start: from, end: to, text: `!(${negative})` }];
  };
  if (kind === "word" && (text === "if" || text === "while")) {
    const first = tokens[index + 1];
    const last = tokens[first?.pair ?? -1];
    return first === undefined || last === undefined ? [] : negated(first.end, last.start);
  }
  if (kind !== "sign") return [];
  if (text === "!") return [{ kind: "condition", start, end, text: "" }];
  const before = tokens[index - 1];
  return text === "?" && before !== undefined ? negated(startOfCondition(tokens, index), before.end) : [];
}

const beforeExpression = new Set([",", ";", "=>", "=", "+=", "-=", ":", "?", "...", "return", "throw", "??"]);

/** Back from the question mark to where its condition begins. */
function startOfCondition(tokens: readonly Token[], question: number): number {
  let first = question;
  for (let index = question - 1; index >= 0; index -= 1) {
    const token = tokens[index] as Token;
    if (token.pair !== undefined && token.pair < index) index = token.pair;
    else if (token.pair !== undefined || beforeExpression.has(token.text)) break;
    first = index;
  }
  return (tokens[first] as Token).start;
}

function constant(tokens: readonly Token[], index: number, code: string): readonly Mutation[] {
  const token = tokens[index] as Token;
  const next = tokens[index + 1];
  const isBody = token.text === "=>" && next?.text !== "{";
  if (next === undefined || !(isBody || (token.kind === "word" && token.text === "return"))) return [];
  const end = endOfExpression(tokens, index + 1);
  const value = code.slice(next.start, end).trim();
  const replace = (text: string): Mutation => ({ kind: "constant", start: next.start, end, text });
  if (value === "" || value === ";") return [];
  if (value === "true" || value === "false") return [replace(String(value === "false"))];
  if (/^\d+$/.test(value)) return [replace(String(Number(value) + 1))];
  return value === "undefined" ? [replace("true")] : [replace("undefined")];
}

function endOfExpression(tokens: readonly Token[], from: number): number {
  let end = (tokens[from] as Token).start;
  for (let index = from; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.pair !== undefined && token.pair < index) return end;
    if (token.text === ";" || token.text === "," || token.text === ":") return end;
    if (token.text === "?") return (tokens[lastOf(tokens, index)] as Token).end;
    if (token.pair !== undefined) index = token.pair;
    end = (tokens[index] as Token).end;
  }
  return end;
}

/** Both branches of a conditional expression belong to it. */
function lastOf(tokens: readonly Token[], question: number): number {
  for (let index = question; index < tokens.length; index += 1) {
    const token = tokens[index + 1];
    if (token === undefined || token.text === ";" || token.text === "," || (token.pair ?? index + 2) < index + 1)
      return index;
    if (token.pair !== undefined) index = token.pair - 1;
  }
  return tokens.length - 1;
}

function elements(tokens: readonly Token[], index: number): readonly Mutation[] {
  const first = tokens[index] as Token;
  const before = tokens[index - 1];
  if (first.kind !== "sign" || !isArray(first, before) || first.pair === undefined) return [];
  const after = tokens[first.pair + 1]?.text ?? "";
  // Patterns: what they name would not exist.
  if (before?.text === "const" || before?.text === "let" || ["=", "of"].includes(after)) return [];
  if (after === ")" && ["=>", "{"].includes(tokens[first.pair + 2]?.text ?? "")) return [];
  const found: Mutation[] = [];
  let start = index + 1;
  for (let at = index + 1; at <= first.pair; at += 1) {
    const token = tokens[at] as Token;
    if (token.text === "," || at === first.pair) {
      const isLast = at === first.pair;
      if (start < at) found.push(dropped(tokens, start, at, isLast));
      start = at + 1;
    } else if (token.pair !== undefined && token.pair > at) at = token.pair;
  }
  return found;
}

/** With its comma. */
const dropped = (tokens: readonly Token[], start: number, end: number, isLast: boolean): Mutation => ({
  kind: "element",
  start: (tokens[start] as Token).start,
  end: isLast ? (tokens[end - 1] as Token).end : (tokens[end] as Token).end,
  text: "",
});
