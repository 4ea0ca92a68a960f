/** Paths into a schema as `fieldPath` of a rule and selectable fields write them: ".spec.a", ".spec['a b']". */
import type { SchemaNode } from "./node.ts";

export type FieldPathResult =
  | { readonly kind: "good"; readonly path: string; readonly schema: SchemaNode }
  | { readonly kind: "bad"; readonly problem: string };

const token = /'(?:\\.|[^'\\])*'|[.[\]]|[^.[\]]+/gy;

export function fieldPathIn(text: string, root: SchemaNode, brackets = true): FieldPathResult {
  const tokens = [...text.matchAll(token)].map(([piece]) => piece);
  let [schema, path] = [root, ""];
  for (let at = 0; at < tokens.length; ) {
    const opening = tokens[at];
    if (opening !== "." && opening !== "[") return bad(`expected [ or . but got: ${opening}`);
    if (opening === "[" && !brackets) return bad("array notation is not allowed");
    const name = nameAt(tokens, at, opening);
    if (name.kind === "bad") return name;
    const next = schema.properties.size > 0 ? schema.properties.get(name.name) : schema.additional;
    if (typeof next !== "object") return bad("does not refer to a valid field");
    path += schema.properties.size > 0 ? `${path === "" ? "" : "."}${name.name}` : `[${name.name}]`;
    schema = next;
    at += opening === "." ? 2 : 3;
  }
  return { kind: "good", path, schema };
}

const bad = (problem: string): { kind: "bad"; problem: string } => ({ kind: "bad", problem });

function nameAt(
  tokens: readonly string[],
  at: number,
  opening: "." | "[",
): { kind: "name"; name: string } | { kind: "bad"; problem: string } {
  const piece = tokens[at + 1];
  if (piece === undefined) return bad("unexpected end of JSON path");
  if (opening === ".") return { kind: "name", name: piece };
  if (!/^'.*'$/s.test(piece)) return bad(`expected single quoted string but got ${piece}`);
  const closing = tokens[at + 2];
  if (closing === undefined) return bad("unexpected end of JSON path");
  if (closing !== "]") return bad(`expected ] but got ${closing}`);
  return { kind: "name", name: unescaped(piece.slice(1, -1)) };
}

const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
