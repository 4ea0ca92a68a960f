/**
 * Kubernetes' own kinds as schema nodes, read from the generated facts. A definition is taken apart when it is first asked
 * for, and shared by all servers of the process.
 */
import type { JsonValue } from "../../base/json.ts";
import { anything, type ListType, type SchemaNode } from "../../schema/node.ts";
import table from "./builtin.generated.json" with { type: "json" };

interface RawDefinition {
  readonly f: Readonly<Record<string, string>>;
  readonly M?: string;
}

const definitions = table.definitions as Readonly<Record<string, RawDefinition>>;
const kinds: Readonly<Record<string, string>> = table.kinds;

/** One field as the generated text says it; the grammar stands in scripts/builtin-schemas-describe.ts. */
export interface FieldFacts {
  readonly type: string;
  readonly required: boolean;
  /** The default is the type's zero value. */
  readonly zeroDefault: boolean;
  readonly attributes: ReadonlyMap<string, string>;
}

const fieldText = /^(R?)(D?)(\S+)(?: (.*))?$/s;

function readField(text: string): FieldFacts {
  const [, required, zero, type = "j", rest = ""] = fieldText.exec(text) ?? [];
  const attributes = rest.split(" ").filter((word) => word !== "");
  return {
    type,
    required: required === "R",
    zeroDefault: zero === "D",
    attributes: new Map(
      attributes.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
    ),
  };
}

export const definitionOf = (group: string, version: string, kind: string): string | undefined =>
  kinds[`${group}/${version}/${kind}`];
export const factsOf = (definition: string): ReadonlyMap<string, FieldFacts> =>
  new Map(Object.entries(definitions[definition]?.f ?? {}).map(([name, text]) => [name, readField(text)]));
export const mapTypeOf = (definition: string): string | undefined => definitions[definition]?.M;
export const kindsOf = (definition: string): readonly string[] =>
  Object.entries(kinds)
    .filter(([, name]) => name === definition)
    .map(([kind]) => kind);

const nodes = new Map<string, SchemaNode>();

/** The schema of a definition by its OpenAPI name: "io.k8s.api.core.v1.Pod". */
export function definitionNode(name: string): SchemaNode {
  const known = nodes.get(name);
  if (known !== undefined) return known;
  let properties: ReadonlyMap<string, SchemaNode> | undefined;
  const facts = factsOf(name);
  const node: SchemaNode = {
    ...anything,
    types: ["object"],
    mapType: mapTypeOf(name) === "atomic" ? "atomic" : undefined,
    required: [...facts].filter(([, field]) => field.required).map(([field]) => field),
    definition: name,
    get properties() {
      properties ??= new Map([...facts].map(([field, fact]) => [field, fieldNode(fact)]));
      return properties;
    },
  };
  nodes.set(name, node);
  return node;
}

const anyJson: Partial<SchemaNode> = { preserveUnknown: true, mapType: "atomic" };

const scalars: Readonly<Record<string, Partial<SchemaNode>>> = {
  s: { types: ["string"] },
  i: { types: ["integer"], format: "int32" },
  l: { types: ["integer"], format: "int64" },
  b: { types: ["boolean"] },
  f: { types: ["number"], format: "double" },
  q: { types: ["string", "number"] },
  t: { types: ["string"], format: "date-time" },
  m: { types: ["string"], format: "date-time" },
  y: { types: ["string"], format: "byte" },
  x: { types: ["integer", "string"], intOrString: true },
  j: anyJson,
  F: anyJson,
  W: anyJson,
  J: anyJson,
};

const schemaProps = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

function typeNode(type: string): SchemaNode {
  if (type.startsWith("[")) return { ...anything, types: ["array"], items: typeNode(type.slice(1)) };
  if (type.startsWith("{")) return { ...anything, types: ["object"], additional: typeNode(type.slice(1)) };
  if (type.startsWith("#")) return definitionNode(type.slice(1));
  // "A schema, or …": where it is an object it is a schema.
  if (type === "P" || type === "B" || type === "S")
    return withExtra(definitionNode(schemaProps), { types: [], items: definitionNode(schemaProps) });
  return { ...anything, ...scalars[type] };
}

function fieldNode({ type, attributes }: FieldFacts): SchemaNode {
  const node = typeNode(type);
  const [listType, ...listMapKeys] = (attributes.get("l") ?? "").split(":");
  const strategy = attributes.get("p");
  const extra: Partial<SchemaNode> = {
    ...(listType === "" ? {} : { listType: listType as ListType, listMapKeys }),
    ...(attributes.get("M") === "atomic" ? { mapType: "atomic" as const } : {}),
    ...(strategy === undefined
      ? {}
      : { patch: { strategies: strategy.split(","), mergeKey: attributes.get("k") ?? "" } }),
    ...(attributes.has("d") ? { defaultValue: JSON.parse(attributes.get("d") ?? "null") as JsonValue } : {}),
  };
  return Object.keys(extra).length === 0 ? node : withExtra(node, extra);
}

/** A spread would take the lazy properties apart at once, and recursive definitions never end. */
const withExtra = (node: SchemaNode, extra: Partial<SchemaNode>): SchemaNode =>
  Object.assign(Object.create(node) as SchemaNode, extra);

/** undefined for a kind that is not Kubernetes' own. */
export function builtInNode(group: string, version: string, kind: string): SchemaNode | undefined {
  const name = definitionOf(group, version, kind);
  return name === undefined ? undefined : definitionNode(name);
}
