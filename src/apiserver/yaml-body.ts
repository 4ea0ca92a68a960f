/**
 * YAML bodies, read as kube-apiserver reads them. Loaded on demand, and the only importer of the parser here: of a CommonJS
 * package that is itself imported on demand, the bundle has nothing but a default export.
 */
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type Scalar,
  type Tags,
  visit,
} from "yaml";
import type { JsonValue } from "../base/json.ts";
import { goQuote } from "../schema/go-text.ts";

export interface YamlBody {
  readonly value: JsonValue;
  /** 'line 4: key "a" already set in map', as Go's parser says it; the last of two equal keys counts. */
  repeatedKeys(): readonly string[];
}

/** YAML 1.1, where "y" and "on" mean true; but times are text, as JSON knows no other. */
const notInJson = /:(timestamp|binary|set|omap|pairs)$/;
const yamlAsInGo = {
  version: "1.1" as const,
  intAsBigInt: true,
  // The parser's own check compares every key with every other key of its map: 20,000 keys took seconds.
  uniqueKeys: false,
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || !notInJson.test(tag.tag)),
};
const aliasesMax = 100;

/** A value that YAML can say and JSON cannot. */
export class UnsupportedValue extends Error {}

/** Throws what the parser throws. */
export function readYaml(text: string): YamlBody {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...yamlAsInGo, lineCounter: lines });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  visit(document, { Scalar: (_key, node) => settleInfinite(node as Scalar.Parsed) });
  const value = document.toJS({ maxAliasCount: aliasesMax, reviver: plainNumber }) as JsonValue;
  const lineOf = (node: ParsedNode): number => lines.linePos(node.range[0]).line;
  return { value, repeatedKeys: () => [...repeatedIn(document.contents, lineOf)] };
}

/** For Go's parser, a number beyond a float64 is text. */
function settleInfinite(node: Scalar.Parsed): void {
  const { value, source } = node;
  if (typeof value !== "number" || Number.isFinite(value)) return;
  if (/\d/.test(source)) node.value = source;
  else throw new UnsupportedValue(`json: unsupported value: ${goNumber(value)}`);
}

const goNumber = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");

const plainNumber = (_key: unknown, value: unknown): unknown =>
  typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** What a value repeats comes before its own key, and the line is that of the value: the order and lines of Go's parser. */
function* repeatedIn(node: ParsedNode | null, lineOf: (node: ParsedNode) => number): Generator<string> {
  if (isSeq(node)) for (const item of node.items) yield* repeatedIn(item as ParsedNode, lineOf);
  if (!isMap(node)) return;
  const seen = new Set<unknown>();
  for (const { key, value } of node.items as readonly { key: ParsedNode; value: ParsedNode | null }[]) {
    yield* repeatedIn(value, lineOf);
    const name = isScalar(key) ? key.value : key;
    if (seen.has(name)) yield `line ${lineOf(value ?? key)}: key ${shown(name)} already set in map`;
    seen.add(name);
  }
}

const shown = (name: unknown): string => (typeof name === "string" ? goQuote(name) : String(name));
