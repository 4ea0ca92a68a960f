/** What a heap snapshot of V8 says in a table: bytes by type of node. */
import { readFileSync } from "node:fs";

/** What, and how many bytes; the largest first. */
export type HeapShares = readonly (readonly [what: string, bytes: number])[];

interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly [readonly string[]] };
  };
  readonly nodes: readonly number[];
}

const words: Readonly<Record<string, string>> = {
  code: "code: functions, their bytecode and metadata",
  string: "strings",
  "concatenated string": "strings",
  "sliced string": "strings",
  array: "arrays, and the tables of maps and sets",
  object: "objects",
  closure: "functions as values",
  "object shape": "shapes of objects",
  hidden: "the engine's own",
  native: "buffers, and what the runtime holds outside of the heap",
  synthetic: "the engine's own",
};

/** Undefined: the file is not complete yet. */
export function heapSharesIn(file: string): HeapShares | undefined {
  let parsed: Snapshot;
  try {
    parsed = JSON.parse(readFileSync(file, "utf8")) as Snapshot;
  } catch {
    return undefined;
  }
  const { node_fields: fields, node_types: types } = parsed.snapshot.meta;
  const [typeAt, sizeAt] = [fields.indexOf("type"), fields.indexOf("self_size")];
  const sums = new Map<string, number>();
  for (let at = 0; at < parsed.nodes.length; at += fields.length) {
    const type = types[0][parsed.nodes[at + typeAt] ?? 0] ?? "";
    const what = words[type] ?? "other";
    sums.set(what, (sums.get(what) ?? 0) + (parsed.nodes[at + sizeAt] ?? 0));
  }
  return [...sums].toSorted(([, a], [, b]) => b - a);
}
