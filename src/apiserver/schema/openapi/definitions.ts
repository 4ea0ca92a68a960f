/** Built-in definitions as OpenAPI writes them, made from the generated facts: names and types, no prose. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { type FieldFacts, factsOf, kindsOf, mapTypeOf } from "../builtin.ts";

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";
const extensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/** Types that are a definition of their own in OpenAPI and a letter in our facts. */
const leafNames: Readonly<Record<string, string>> = {
  q: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  t: `${meta}.Time`,
  m: `${meta}.MicroTime`,
  x: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  F: `${meta}.FieldsV1`,
  W: "io.k8s.apimachinery.pkg.runtime.RawExtension",
  J: `${extensions}.JSON`,
  P: `${extensions}.JSONSchemaPropsOrArray`,
  B: `${extensions}.JSONSchemaPropsOrBool`,
  S: `${extensions}.JSONSchemaPropsOrStringArray`,
};

const leaves: Readonly<Record<string, JsonObject>> = {
  [leafNames.q ?? ""]: { oneOf: [{ type: "string" }, { type: "number" }] },
  [leafNames.t ?? ""]: { type: "string", format: "date-time" },
  [leafNames.m ?? ""]: { type: "string", format: "date-time" },
  [leafNames.x ?? ""]: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  [leafNames.F ?? ""]: { type: "object" },
  [leafNames.W ?? ""]: { type: "object" },
  [leafNames.J ?? ""]: {},
  [leafNames.P ?? ""]: {},
  [leafNames.B ?? ""]: {},
  [leafNames.S ?? ""]: {},
};

const scalars: Readonly<Record<string, JsonObject>> = {
  s: { type: "string" },
  i: { type: "integer", format: "int32" },
  l: { type: "integer", format: "int64" },
  b: { type: "boolean" },
  f: { type: "number", format: "double" },
  y: { type: "string", format: "byte" },
  j: { type: "object" },
};

export type Refer = (definition: string) => string;

/** How a version of OpenAPI refers to a definition: v3 wraps a reference that has neighbours, v2 needs not. */
export interface Dialect {
  readonly refer: Refer;
  readonly wraps: boolean;
}

const zeros: Readonly<Record<string, JsonValue>> = { s: "", i: 0, l: 0, b: false, f: 0 };

function typeSchema(type: string, dialect: Dialect, refers: Set<string>): JsonObject {
  if (type.startsWith("[")) return { type: "array", items: itemSchema(type.slice(1), dialect, refers) };
  if (type.startsWith("{")) return { type: "object", additionalProperties: itemSchema(type.slice(1), dialect, refers) };
  const name = type.startsWith("#") ? type.slice(1) : leafNames[type];
  if (name === undefined) return { ...scalars[type] };
  refers.add(name);
  return { $ref: dialect.refer(name) };
}

/** Entries carry the zero value of their type as default, references to times and quantities do not. */
function itemSchema(type: string, dialect: Dialect, refers: Set<string>): JsonObject {
  const schema = typeSchema(type, dialect, refers);
  if (type.startsWith("#")) return wrapped(schema, { default: {} }, dialect);
  return type in zeros ? { ...schema, default: zeros[type] ?? null } : schema;
}

function wrapped(schema: JsonObject, beside: JsonObject, dialect: Dialect): JsonObject {
  if (schema.$ref === undefined) return { ...schema, ...beside };
  return dialect.wraps ? { allOf: [schema], ...beside } : { ...schema, ...beside };
}

function fieldSchema(fact: FieldFacts, dialect: Dialect, refers: Set<string>): JsonObject {
  const schema = typeSchema(fact.type, dialect, refers);
  const beside: JsonObject = {};
  if (fact.zeroDefault) beside.default = fact.type.startsWith("#") ? {} : (zeros[fact.type] ?? {});
  const given = fact.attributes.get("d");
  if (given !== undefined) beside.default = JSON.parse(given) as JsonValue;
  const [listType = "", ...keys] = (fact.attributes.get("l") ?? "").split(":");
  if (listType !== "") beside["x-kubernetes-list-type"] = listType;
  if (keys.length > 0) beside["x-kubernetes-list-map-keys"] = keys;
  const named: readonly (readonly [string, string])[] = [
    ["M", "x-kubernetes-map-type"],
    ["k", "x-kubernetes-patch-merge-key"],
    ["p", "x-kubernetes-patch-strategy"],
  ];
  for (const [letter, name] of named) {
    const value = fact.attributes.get(letter);
    if (value !== undefined) beside[name] = value;
  }
  return wrapped(withEnum(schema, fact.attributes.get("e")), beside, dialect);
}

/** What a list or map may hold is said of its entries. */
function withEnum(schema: JsonObject, values: string | undefined): JsonObject {
  if (values === undefined) return schema;
  const inner = isObject(schema.items)
    ? "items"
    : isObject(schema.additionalProperties)
      ? "additionalProperties"
      : undefined;
  const list = values.split("|");
  return inner === undefined
    ? { ...schema, enum: list }
    : { ...schema, [inner]: { ...(schema[inner] as JsonObject), enum: list } };
}

/** One definition, and the names of those it refers to. */
export function definitionSchema(name: string, dialect: Dialect): { schema: JsonObject; refers: ReadonlySet<string> } {
  const refers = new Set<string>();
  const leaf = leaves[name];
  if (leaf !== undefined) return { schema: leaf, refers };
  const facts = factsOf(name);
  const required = [...facts].filter(([, fact]) => fact.required).map(([field]) => field);
  const gvks = kindsOf(name).map((key) => {
    const [group = "", version = "", kind = ""] = key.split("/");
    return { group, kind, version };
  });
  const mapType = mapTypeOf(name);
  const schema: JsonObject = {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    ...(facts.size === 0
      ? {}
      : {
          properties: Object.fromEntries(
            [...facts].map(([field, fact]) => [field, fieldSchema(fact, dialect, refers)]),
          ),
        }),
    ...(gvks.length === 0 ? {} : { "x-kubernetes-group-version-kind": gvks }),
    ...(mapType === undefined ? {} : { "x-kubernetes-map-type": mapType }),
  };
  return { schema, refers };
}

/** Everything the named definitions lead to. */
export function closure(names: Iterable<string>, dialect: Dialect): JsonObject {
  const schemas: JsonObject = {};
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (schemas[name] !== undefined) continue;
    const { schema, refers } = definitionSchema(name, dialect);
    schemas[name] = schema;
    waiting.push(...refers);
  }
  return schemas;
}

export const objectMetaName = `${meta}.ObjectMeta`;
export const listMetaName = `${meta}.ListMeta`;
export const commonNames: readonly string[] = [objectMetaName, listMetaName, `${meta}.DeleteOptions`, `${meta}.Status`];
