/**
 * Which values a field may have, where its Go type is marked as an enumeration. The OpenAPI documents in the module leave
 * that out; a running API server adds it from the same marks.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface GoPackage {
  /** Type name → its values, sorted. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
  /** Struct name → JSON name → Go type, with embedded structs as type names under "". */
  readonly structs: ReadonlyMap<string, readonly (readonly [json: string, type: string])[]>;
}

const enumMark = /\/\/ \+enum\b[^\n]*\n(?:\/\/[^\n]*\n)*type (\w+) string/g;
const constant = /^\s*\w+\s+(\w+)\s*=\s*"([^"]*)"/gm;
const struct = /^type (\w+) struct \{\n([\s\S]*?)^\}/gm;
const field = /^\t(?:\w+\s+)?\*?(?:\[\]|map\[[\w.]+\])?\*?([\w.]+)\s+`json:"([^",]*)([^"]*)"/gm;

function readPackage(folder: string): GoPackage {
  if (!existsSync(folder)) return { enums: new Map(), structs: new Map() };
  const text = readdirSync(folder)
    .filter((name) => name.endsWith(".go") && !/_test\.go$|^zz_|generated/.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
  const marked = new Set([...text.matchAll(enumMark)].map(([, name]) => name));
  const enums = new Map<string, string[]>();
  for (const [, type = "", value = ""] of text.matchAll(constant))
    if (marked.has(type)) enums.set(type, [...(enums.get(type) ?? []), value]);
  const structs = new Map(
    [...text.matchAll(struct)].map(([, name = "", body = ""]) => [
      name,
      [...body.matchAll(field)].map(([, type = "", json = ""]) => [json, type] as const),
    ]),
  );
  return { enums: new Map([...enums].map(([type, values]) => [type, [...new Set(values)].sort()])), structs };
}

/** Answers for a definition's OpenAPI name, "io.k8s.api.core.v1.Container", and a field. */
export function createEnums(
  modules: string,
  version: string,
): (definition: string, name: string) => readonly string[] | undefined {
  const packages = new Map<string, GoPackage>();
  const packageOf = (path: string): GoPackage => {
    const known = packages.get(path) ?? readPackage(join(modules, `k8s.io/api@${version}`, path));
    packages.set(path, known);
    return known;
  };
  const core = packageOf("core/v1");
  const typeOf = (own: GoPackage, structName: string, name: string): string | undefined => {
    for (const [json, type] of own.structs.get(structName) ?? []) {
      const found = json === name ? type : json === "" ? typeOf(own, type, name) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return (definition, name) => {
    const parts = /^io\.k8s\.api\.(.+)\.(\w+)$/.exec(definition);
    if (parts === null) return undefined;
    const own = packageOf((parts[1] ?? "").replaceAll(".", "/"));
    const type = typeOf(own, parts[2] ?? "", name);
    const bare = type?.split(".").at(-1) ?? "";
    return type?.includes(".") === true ? core.enums.get(bare) : own.enums.get(bare);
  };
}
