/** Go's regular expressions: RE2's syntax, its choice among matches and its messages; every match takes linear time. */
import { RE2JS } from "re2js";

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
    const pattern = RE2JS.compile(source);
    return { source, test: (text) => pattern.test(text), findAll: (text, max) => allOf(pattern, text, max) };
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : String(reason);
    return { source, test: () => false, findAll: () => [], problem: message.replace(/^error parsing regexp: /, "") };
  }
}

/** An empty match right after another does not count. */
function allOf(pattern: RE2JS, text: string, max: number): readonly string[] {
  const all: string[] = [];
  const matcher = pattern.matcher(text);
  let ended = -1;
  while ((max < 0 || all.length < max) && matcher.find()) {
    const isRepeated = matcher.start() === matcher.end() && matcher.start() === ended;
    ended = matcher.end();
    if (!isRepeated) all.push(matcher.group() ?? "");
  }
  return all;
}
