/** Where to insert a list item into the text of a YAML document, and what to remove to undo it. */
import { isMap, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What stood in the place of a list: no key at all, or this text after the colon. */
export type Restored = { readonly absent: true } | { readonly text: string };

export const applied = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, { start, end, text: put }) => all.slice(0, start) + put + all.slice(end), text);

export const endOfLine = (text: string): string => (/^[^\n]*\r\n/.test(text) ? "\r\n" : "\n");

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;
const indentAt = (text: string, at: number): string => /^ *$/.exec(text.slice(lineStart(text, at), at))?.[0] ?? "";

function pairOf(map: YAMLMap, key: string): Pair<Scalar, unknown> | undefined {
  return (map.items as Pair<Scalar, unknown>[]).find((pair) => pair.key.value === key);
}

/** The place right after the colon of a pair. */
function afterColon({ srcToken }: Pair<Scalar, unknown>): number | undefined {
  const colon = srcToken?.sep?.find(({ type }) => type === "map-value-ind");
  return colon === undefined ? undefined : colon.offset + 1;
}

/** The edits that make `item` the first of the list; it is told what it stands in the place of, if that was no list. */
export function insertedList(
  text: string,
  map: YAMLMap,
  key: string,
  item: (restored?: Restored) => string,
): readonly Edit[] {
  const pair = pairOf(map, key);
  const newline = endOfLine(text);
  if (pair === undefined) {
    const list = `[${item({ absent: true })}]`;
    const start = (map.range?.[0] ?? 0) + (map.flow === true ? 1 : 0);
    if (map.flow !== true) return [insertAt(start, `${key}: ${list}${newline}${indentAt(text, start)}`)];
    return [insertAt(start, `${JSON.stringify(key)}: ${list},`)];
  }
  const { value } = pair;
  if (!isSeq(value)) {
    const start = afterColon(pair) ?? 0;
    const [from = start, to = start] = (value as Scalar | null)?.range ?? [];
    const end = from === to ? start : to;
    return [{ start, end, text: ` [${item({ text: text.slice(start, end) })}]` }];
  }
  const [start = 0] = value.range ?? [];
  if (value.flow === true) return [insertAt(start + 1, `${item()}${value.items.length > 0 ? "," : ""}`)];
  return [insertAt(start, `- ${item()}${newline}${indentAt(text, start)}`)];
}

const insertAt = (start: number, text: string): Edit => ({ start, end: start, text });

/** Puts back what was there before the list. */
export function restoredList(text: string, map: YAMLMap, key: string, before: Restored): Edit | undefined {
  const pair = pairOf(map, key);
  const end = (pair?.value as YAMLSeq | undefined)?.range?.[1];
  const start = pair === undefined ? undefined : afterColon(pair);
  if (pair === undefined || start === undefined || end === undefined) return undefined;
  if ("text" in before) return { start, end, text: before.text };
  const [keyStart = 0] = pair.key.range ?? [];
  // What follows up to the next key was inserted with it: a comma, or the end of the line and the indentation.
  const [following = ""] = (map.flow === true ? /^,?/ : /^\r?\n? */).exec(text.slice(end)) ?? [];
  return { start: keyStart, end: end + following.length, text: "" };
}

/** Cuts one item of a list: its lines, or its part between brackets. */
export function cutItem(text: string, map: YAMLMap, key: string, index: number): Edit | undefined {
  const list = pairOf(map, key)?.value;
  const item = isSeq(list) ? list.items[index] : undefined;
  if (!isSeq(list) || !isMap(item) || item.range == null) return undefined;
  const [start, end] = item.range;
  if (list.flow !== true) {
    const next = text[end - 1] === "\n" ? end : text.indexOf("\n", end) + 1;
    return { start: lineStart(text, start), end: next === 0 ? text.length : next, text: "" };
  }
  if (index + 1 < list.items.length) return { start, end: text.indexOf(",", end) + 1, text: "" };
  const before = list.items[index - 1];
  const [, beforeEnd = start] = (isMap(before) ? before.range : undefined) ?? [];
  return { start: index === 0 ? start : text.indexOf(",", beforeEnd), end, text: "" };
}
