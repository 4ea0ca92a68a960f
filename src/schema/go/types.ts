/**
 * The Go types of the built-in kinds, as facts read from k8s.io/api: which fields there are, of what type, which are left
 * out when empty, and how strategic merge treats lists. Clients see these types in every answer: an unset time is null
 * here and absent there, "1024Mi" comes back as "1Gi".
 */
import table from "./types.generated.json" with { type: "json" };

export interface GoField {
  readonly name: string;
  readonly type: GoType;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** Left out when nothing is given for it, whatever its type makes of nothing. */
  readonly isOptional: boolean;
  /** Strategic merge of a list: "merge" by this key, or by value when it is "". */
  readonly merge: { readonly key: string; readonly retainKeys: boolean } | undefined;
}

export interface GoStruct {
  /** Without the package: "PersistentVolumeClaimSpec". */
  readonly name: string;
  readonly fields: readonly GoField[];
  readonly byName: ReadonlyMap<string, GoField>;
}

const scalars = ["string", "bool", "int32", "int64", "int", "uint8", "float64"] as const;
const opaques = [
  "v1.Time",
  "v1.MicroTime",
  "v1.Duration",
  "resource.Quantity",
  "intstr.IntOrString",
  "v1.FieldsV1",
  "runtime.RawExtension",
] as const;
export type GoScalar = (typeof scalars)[number];
export type GoOpaque = (typeof opaques)[number];

export type GoType = { readonly goName: string } & (
  | { readonly kind: "scalar"; readonly of: GoScalar }
  /** Types that read and write their own JSON. */
  | { readonly kind: "opaque"; readonly of: GoOpaque }
  | { readonly kind: "bytes" }
  | { readonly kind: "pointer" | "list" | "map"; readonly of: GoType }
  | { readonly kind: "struct"; fields(): GoStruct }
);

const named: Readonly<Record<string, string>> = table.named;
const structs: Readonly<Record<string, readonly string[]>> = table.structs;
const roots: Readonly<Record<string, string>> = table.roots;

const isScalar = (text: string): text is GoScalar => (scalars as readonly string[]).includes(text);
const isOpaque = (text: string): text is GoOpaque => (opaques as readonly string[]).includes(text);

/** "events/v1.Event" is told apart from core's by its package; Go prints both as "v1.Event". */
const printed = (text: string): string => text.replace(/[a-z]+\/(?=v\d)/g, "");

function parseType(text: string): GoType {
  const goName = printed(text);
  if (text.startsWith("*")) return { goName: printed(text.slice(1)), kind: "pointer", of: parseType(text.slice(1)) };
  if (text === "[]uint8") return { goName, kind: "bytes" };
  if (text.startsWith("[]")) return { goName, kind: "list", of: parseType(text.slice(2)) };
  if (text.startsWith("map[")) return { goName, kind: "map", of: parseType(text.slice(text.indexOf("]") + 1)) };
  if (isScalar(text)) return { goName, kind: "scalar", of: text };
  if (isOpaque(text)) return { goName, kind: "opaque", of: text };
  const under = named[text];
  return under === undefined
    ? { goName, kind: "struct", fields: () => structOf(text) }
    : { ...parseType(under), goName };
}

const compiled = new Map<string, GoStruct>();

function structOf(id: string): GoStruct {
  const known = compiled.get(id);
  if (known !== undefined) return known;
  const fields = (structs[id] ?? []).flatMap(parseField);
  const made = {
    name: id.slice(id.lastIndexOf(".") + 1),
    fields,
    byName: new Map(fields.map((field) => [field.name, field])),
  };
  compiled.set(id, made);
  return made;
}

/** "name? type merge:key"; "..." lends the parent its fields. */
function parseField(text: string): readonly GoField[] {
  const [head = "", type = "", strategy = ""] = text.split(" ");
  if (head === "...") return structOf(type).fields;
  const [how = "", key = ""] = strategy.split(":");
  const parsed = parseType(type);
  const omitEmpty = head.includes("?");
  return [
    {
      name: head.replace(/[?0]+$/, ""),
      type: parsed,
      omitEmpty,
      isOptional: omitEmpty && parsed.kind !== "struct" && parsed.kind !== "opaque",
      omitZero: head.endsWith("0"),
      merge: how.includes("merge") ? { key, retainKeys: how.includes("retainKeys") } : undefined,
    },
  ];
}

/** The struct of a kind, by "v1" or "group/v1" and kind; undefined for one not in the table. */
export function goStruct(apiVersion: string, kind: string): GoStruct | undefined {
  const id = roots[`${apiVersion}/${kind}`];
  return id === undefined ? undefined : structOf(id);
}
