/**
 * Go's regular expressions. JavaScript's own engine is the faster one and does most of the work; what it could lose itself in is
 * matched in one pass over the text.
 */
import { type LinearPattern, linearPattern } from "./go-regexp-linear.ts";
import { type Look, type Piece, parseGoRegExp } from "./go-regexp-parse.ts";

export interface Pattern {
  /** As written in the schema: it stands in messages. */
  readonly source: string;
  test(text: string): boolean;
  /** The matches from left to right, at most `max` of them unless that is negative. */
  findAll(text: string, max: number): readonly string[];
  /** Why the pattern is none. */
  readonly problem?: string;
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
  try {
    const piece = parseGoRegExp(source);
    const native = new RegExp(nativeOf(piece), "u");
    const safeLength = safeLengthFor(piece);
    let made: LinearPattern | undefined;
    const linear = (): LinearPattern => {
      made ??= linearPattern(piece);
      return made;
    };
    const finder = (text: string): Finder =>
      text.length <= safeLength ? nativeFinder(native, text) : (from) => linear().find(text, from);
    return {
      source,
      test: (text) => (text.length <= safeLength ? native.test(text) : linear().test(text)),
      findAll: (text, max) => allOf(text, finder(text), max),
    };
  } catch (reason) {
    const problem = reason instanceof Error ? reason.message : String(reason);
    return { source, test: () => false, findAll: () => [], problem };
  }
}

const nativeLooks: Readonly<Record<Look, string>> = {
  begin: "^",
  end: "$",
  lineBegin: "(?<![^\\n])",
  lineEnd: "(?![^\\n])",
  word: "\\b",
  noWord: "\\B",
};

function nativeOf(piece: Piece): string {
  switch (piece.kind) {
    case "one":
      return piece.anyCase ? `(?i:${piece.js})` : piece.js;
    case "look":
      return nativeLooks[piece.look];
    case "all":
      return piece.of.map(nativeOf).join("");
    case "any":
      return `(?:${piece.of.map(nativeOf).join("|")})`;
    case "repeat":
      return `(?:${nativeOf(piece.of)}){${piece.min},${Number.isFinite(piece.max) ? piece.max : ""}}${piece.lazy ? "?" : ""}`;
  }
}

/**
 * By how many loose repetitions stand one after the other: where each of them ends, and where the match begins, can be tried out
 * in a million ways in texts of these lengths.
 */
const safeLengths = [Number.POSITIVE_INFINITY, 1_400, 180, 70, 40, 30, 20] as const;
/** A count this high is as good as none. */
const looseFrom = 16;

const isLoose = ({ min, max }: Piece & { kind: "repeat" }): boolean => max > looseFrom && max > min;

/** How long a text JavaScript's engine may be given. What it tries doubles with each character where repetitions are nested. */
function safeLengthFor(piece: Piece): number {
  const { loose, nested } = repetitionsIn(piece);
  return nested ? -1 : (safeLengths[loose] ?? -1);
}

function repetitionsIn(piece: Piece): { readonly loose: number; readonly nested: boolean } {
  if (piece.kind === "one" || piece.kind === "look") return { loose: 0, nested: false };
  const inner = (piece.kind === "repeat" ? [piece.of] : piece.of).map(repetitionsIn);
  const counts = inner.map((one) => one.loose);
  const loose = piece.kind === "any" ? Math.max(...counts) : counts.reduce((sum, count) => sum + count, 0);
  const nested = inner.some((one) => one.nested);
  if (piece.kind !== "repeat" || piece.max <= 1) return { loose, nested };
  return { loose: loose + (isLoose(piece) ? 1 : 0), nested: nested || isVarying(piece.of) };
}

/** Whether there is more than one way through it: then there are many through its repetition. */
function isVarying(piece: Piece): boolean {
  if (piece.kind === "one" || piece.kind === "look") return false;
  if (piece.kind === "all") return piece.of.some(isVarying);
  return piece.kind === "any" || piece.min !== piece.max || isVarying(piece.of);
}

type Finder = (from: number) => readonly [number, number] | undefined;

function nativeFinder(native: RegExp, text: string): Finder {
  const moving = new RegExp(native, "gu");
  return (from) => {
    moving.lastIndex = from;
    const found = moving.exec(text);
    return found === null ? undefined : [found.index, found.index + found[0].length];
  };
}

/** An empty match right after another does not count. */
function allOf(text: string, find: Finder, max: number): readonly string[] {
  const all: string[] = [];
  let ended = -1;
  for (let from = 0; from <= text.length && (max < 0 || all.length < max); ) {
    const found = find(from);
    if (found === undefined) break;
    const [begin, end] = found;
    if (end > begin || begin !== ended) all.push(text.slice(begin, end));
    ended = end;
    from = end > begin ? end : end + String.fromCodePoint(text.codePointAt(end) ?? 0).length;
  }
  return all;
}
