/**
 * A schema made ready for use: one node per JSONSchemaProps, read once, so that pruning, defaulting, validation, rules,
 * apply and the OpenAPI documents walk plain fields instead of asking the raw JSON again.
 */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { goRegExp, type Pattern } from "./go-regexp.ts";

export type ListType = "atomic" | "set" | "map";

export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean;
}

export interface SchemaNode {
  /** [] when anything goes; int-or-string has two. */
  readonly types: readonly string[];
  readonly format: string;
  readonly nullable: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** undefined: not said; false: none but `properties`; true: any. */
  readonly additional: SchemaNode | boolean | undefined;
  readonly items: SchemaNode | undefined;
  readonly required: readonly string[];
  readonly defaultValue: JsonValue | undefined;
  readonly bounds: Bounds | undefined;
  readonly enumeration: readonly JsonValue[] | undefined;
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
  readonly intOrString: boolean;
  readonly preserveUnknown: boolean;
  readonly embeddedResource: boolean;
  readonly listType: ListType | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: "granular" | "atomic" | undefined;
  readonly rules: readonly Rule[];
  /** Built-in kinds only: how strategic merge treats the field, and the name of its definition. */
  readonly patch?: { readonly strategies: readonly string[]; readonly mergeKey: string };
  readonly definition?: string;
}

/** Everything a value may be measured against; most nodes have none of it. */
export interface Bounds {
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: Pattern | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
}

const nothing: readonly never[] = [];
const noProperties: ReadonlyMap<string, SchemaNode> = new Map();

/** What a schema that says nothing means. */
export const anything: SchemaNode = {
  types: nothing,
  format: "",
  nullable: false,
  properties: noProperties,
  additional: undefined,
  items: undefined,
  required: nothing,
  defaultValue: undefined,
  bounds: undefined,
  enumeration: undefined,
  allOf: nothing,
  anyOf: nothing,
  oneOf: nothing,
  not: undefined,
  intOrString: false,
  preserveUnknown: false,
  embeddedResource: false,
  listType: undefined,
  listMapKeys: nothing,
  mapType: undefined,
  rules: nothing,
};

const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
const texts = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : nothing;
const amount = (value: JsonValue | undefined): number | undefined =>
  typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;

/** Reads a JSONSchemaProps. What the definition's own validation refuses is ignored here. */
export function readSchema(raw: JsonValue | undefined): SchemaNode {
  if (!isObject(raw)) return anything;
  const intOrString = raw["x-kubernetes-int-or-string"] === true;
  const type = text(raw.type);
  const types = intOrString ? ["integer", "string"] : type === "" ? nothing : [type];
  return {
    types,
    format: knownFormat(text(raw.format), types),
    nullable: raw.nullable === true,
    properties: readProperties(raw.properties),
    additional: isObject(raw.additionalProperties)
      ? readSchema(raw.additionalProperties)
      : typeof raw.additionalProperties === "boolean"
        ? raw.additionalProperties
        : undefined,
    items: isObject(raw.items) ? readSchema(raw.items) : undefined,
    required: texts(raw.required),
    defaultValue: raw.default,
    bounds: readBounds(raw),
    enumeration: Array.isArray(raw.enum) && raw.enum.length > 0 ? raw.enum : undefined,
    allOf: readSchemas(raw.allOf),
    anyOf: readSchemas(raw.anyOf),
    oneOf: readSchemas(raw.oneOf),
    not: isObject(raw.not) ? readSchema(raw.not) : undefined,
    intOrString,
    preserveUnknown: raw["x-kubernetes-preserve-unknown-fields"] === true,
    embeddedResource: raw["x-kubernetes-embedded-resource"] === true,
    listType: listTypeOf(raw["x-kubernetes-list-type"]),
    listMapKeys: texts(raw["x-kubernetes-list-map-keys"]),
    mapType:
      raw["x-kubernetes-map-type"] === "atomic" || raw["x-kubernetes-map-type"] === "granular"
        ? raw["x-kubernetes-map-type"]
        : undefined,
    rules: readRules(raw["x-kubernetes-validations"]),
  };
}

const listTypeOf = (value: JsonValue | undefined): ListType | undefined =>
  value === "set" || value === "map" || value === "atomic" ? value : undefined;

const readSchemas = (raw: JsonValue | undefined): readonly SchemaNode[] =>
  Array.isArray(raw) && raw.length > 0 ? raw.map(readSchema) : nothing;

function readProperties(raw: JsonValue | undefined): ReadonlyMap<string, SchemaNode> {
  if (!isObject(raw)) return noProperties;
  return new Map(Object.entries(raw).map(([name, schema]) => [name, readSchema(schema)]));
}

function readBounds(raw: JsonObject): Bounds | undefined {
  const bounds: Bounds = {
    minimum: amount(raw.minimum),
    maximum: amount(raw.maximum),
    exclusiveMinimum: raw.exclusiveMinimum === true,
    exclusiveMaximum: raw.exclusiveMaximum === true,
    multipleOf: amount(raw.multipleOf),
    minLength: amount(raw.minLength),
    maxLength: amount(raw.maxLength),
    pattern: text(raw.pattern) === "" ? undefined : goRegExp(text(raw.pattern)),
    minItems: amount(raw.minItems),
    maxItems: amount(raw.maxItems),
    uniqueItems: raw.uniqueItems === true,
    minProperties: amount(raw.minProperties),
    maxProperties: amount(raw.maxProperties),
  };
  return Object.values(bounds).some((bound) => bound !== undefined && bound !== false) ? bounds : undefined;
}

const readRules = (raw: JsonValue | undefined): readonly Rule[] =>
  Array.isArray(raw) && raw.length > 0
    ? raw.filter(isObject).map((rule) => ({
        rule: text(rule.rule),
        message: text(rule.message),
        messageExpression: text(rule.messageExpression),
        reason: text(rule.reason),
        fieldPath: text(rule.fieldPath),
        optionalOldSelf: rule.optionalOldSelf === true,
      }))
    : nothing;

/** Formats as Kubernetes 1.36 knows them; any other is not looked at. */
const textFormats: ReadonlySet<string> = new Set([
  ...["bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5"],
  ...["isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date"],
  ...["duration", "datetime", "k8sshortname", "k8slongname"],
]);

export function knownFormat(format: string, types: readonly string[]): string {
  if (format === "") return "";
  const type = types.length === 1 ? types[0] : "";
  if (type === "integer") return format === "int32" || format === "int64" ? format : "";
  if (type === "number") return format === "float" || format === "double" ? format : "";
  return (type === "string" || type === "") && textFormats.has(format.replaceAll("-", "")) ? format : "";
}
