/** Between schemas and CEL: what type a part of an object has in rules, and what value. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { isGoDuration } from "../formats.ts";
import { anything, type SchemaNode } from "../node.ts";
import { escapeName, unescapeName } from "./escape.ts";
import { parseCelDuration, parseTimestamp } from "./library/time.ts";
import { type CelType, listOf, mapOf, types } from "./types.ts";
import { CelFault, duration, type ListValue, listFrom, type MapValue, timestamp, type Value } from "./value.ts";

/** Kubernetes makes up a new name for the type of `self` each time, so that nobody can rely on it. */
export const selfTypeName = "selfType0";

const stringNode: SchemaNode = { ...anything, types: ["string"] };
const metaNode: SchemaNode = {
  ...anything,
  types: ["object"],
  properties: new Map([
    ["name", stringNode],
    ["generateName", stringNode],
  ]),
};

const rooted = new WeakMap<SchemaNode, SchemaNode>();

/** Rules may always see apiVersion, kind and the name of a whole resource, and nothing else of its metadata. */
export function withTypeMeta(schema: SchemaNode): SchemaNode {
  const known = rooted.get(schema);
  if (known !== undefined) return known;
  const own: readonly (readonly [string, SchemaNode])[] = [
    ["kind", stringNode],
    ["apiVersion", stringNode],
    ["metadata", metaNode],
  ];
  const made: SchemaNode = { ...schema, properties: new Map([...schema.properties, ...own]) };
  rooted.set(schema, made);
  return made;
}

/** undefined: rules cannot see values of this schema. */
export function celTypeOf(schema: SchemaNode, isResource: boolean, name: string): CelType | undefined {
  if (schema.intOrString) return types.dyn;
  switch (schema.types[0]) {
    case "array": {
      const of =
        schema.items === undefined ? undefined : celTypeOf(schema.items, schema.items.embeddedResource, `${name}.@idx`);
      return of === undefined ? undefined : listOf(of);
    }
    case "object":
      return objectType(isResource ? withTypeMeta(schema) : schema, name);
    case "string":
      return textTypes[schema.format] ?? types.string;
    case "boolean":
      return types.bool;
    case "number":
      return types.double;
    case "integer":
      return types.int;
    default:
      return undefined;
  }
}

const textTypes: Readonly<Record<string, CelType>> = {
  byte: types.bytes,
  duration: types.duration,
  date: types.timestamp,
  "date-time": types.timestamp,
};

function objectType(schema: SchemaNode, name: string): CelType | undefined {
  if (typeof schema.additional === "object") {
    const value = celTypeOf(schema.additional, schema.additional.embeddedResource, `${name}.@elem`);
    return value === undefined ? undefined : mapOf(types.string, value);
  }
  let fields: ReadonlyMap<string, CelType> | undefined;
  return {
    kind: "object",
    name,
    fields: () => {
      fields ??= fieldTypes(schema, name);
      return fields;
    },
  };
}

function fieldTypes(schema: SchemaNode, name: string): ReadonlyMap<string, CelType> {
  const fields = new Map<string, CelType>();
  for (const [property, below] of schema.properties) {
    const escaped = escapeName(property);
    const type = escaped === undefined ? undefined : celTypeOf(below, below.embeddedResource, `${name}.${escaped}`);
    if (escaped === undefined || type === undefined) continue;
    fields.set(escaped, type);
    // A reserved word may be a field's name after all: self.namespace is as good as self.__namespace__.
    if (escaped === `__${property}__`) fields.set(property, type);
  }
  return fields;
}

/** Parts are converted when a rule looks at them. */
export function celValueOf(schema: SchemaNode, value: JsonValue): Value {
  if (value === null) {
    if (schema.nullable) return null;
    throw new CelFault("invalid data, got null for schema with nullable=false");
  }
  if (schema.intOrString) return intOrString(value);
  switch (schema.types[0]) {
    case "object":
      return objectValue(schema, value);
    case "array":
      return listValue(schema, value);
    case "string":
      return textValue(schema, value);
    case "integer":
      if (typeof value === "number" || typeof value === "bigint") return BigInt(value);
      break;
    case "number":
      if (typeof value === "number" || typeof value === "bigint") return Number(value);
      break;
    case "boolean":
      if (typeof value === "boolean") return value;
      break;
    default:
      break;
  }
  throw new CelFault(`invalid data, expected ${schema.types[0] ?? "a typed value"}`);
}

/** Where no schema says what to expect: JSON as it is. */
export function untypedValueOf(value: JsonValue): Value {
  if (Array.isArray(value))
    return { kind: "list", size: value.length, at: (position) => untypedValueOf(value[position] ?? null) };
  if (isObject(value)) return untypedMap(value);
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : (value as Value);
}

const untypedMap = (value: JsonObject): MapValue => ({
  kind: "map",
  size: Object.keys(value).length,
  keys: () => Object.keys(value),
  get: (key) => {
    const item = typeof key === "string" && Object.hasOwn(value, key) ? value[key] : undefined;
    return item === undefined ? undefined : untypedValueOf(item);
  },
});

function intOrString(value: JsonValue): Value {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || Number.isInteger(value)) return BigInt(value as number);
  throw new CelFault("invalid data, expected XIntOrString value to be either a string or integer");
}

function textValue(schema: SchemaNode, value: JsonValue): Value {
  if (typeof value !== "string") throw new CelFault("invalid data, expected string");
  switch (schema.format) {
    case "duration":
      return duration(isGoDuration(value) ? parseCelDuration(value) : wordyDuration(value));
    case "date":
      return timestamp(parseTimestamp(`${value}T00:00:00Z`));
    case "date-time":
      return timestamp(parseTimestamp(value));
    case "byte":
      return Uint8Array.from(Buffer.from(value, "base64"));
    default:
      return value;
  }
}

const wordUnits: Readonly<Record<string, bigint>> = { d: 86_400_000_000_000n, w: 604_800_000_000_000n };

/** "3 days", "2w": what the duration format also takes. */
function wordyDuration(value: string): bigint {
  let total = 0n;
  for (const [, count = "0", unit = ""] of value.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const letter = unit.toLowerCase();
    const size = wordUnits[letter.slice(0, 1)];
    total +=
      size === undefined
        ? parseCelDuration(`${count}${/^(ns|us|µs|ms)/.exec(letter)?.[1] ?? letter.slice(0, 1)}`)
        : BigInt(count) * size;
  }
  return total;
}

function objectValue(schema: SchemaNode, value: JsonValue): MapValue {
  if (!isObject(value)) throw new CelFault("invalid data, expected a map for the provided schema with type=object");
  const node = schema.embeddedResource ? withTypeMeta(schema) : schema;
  return typeof node.additional === "object" && node.properties.size === 0
    ? mapValue(node.additional, value)
    : structValue(node, value);
}

function mapValue(of: SchemaNode, value: JsonObject): MapValue {
  return {
    kind: "map",
    size: Object.keys(value).length,
    keys: () => Object.keys(value),
    get: (key) => {
      const item = typeof key === "string" && Object.hasOwn(value, key) ? value[key] : undefined;
      return item === undefined ? undefined : celValueOf(of, item);
    },
  };
}

/** A field that is null is as good as absent: rules ask has() of it. */
function structValue(schema: SchemaNode, value: JsonObject): MapValue {
  const names = Object.keys(value);
  const isSeen = (name: string): boolean => schema.properties.has(name);
  const unseen = names.some((name) => !isSeen(name))
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !isSeen(name)))
    : undefined;
  return {
    kind: "map",
    size: names.length,
    keys: () => names.filter(isSeen).flatMap((name) => escapeName(name) ?? []),
    get: (key) => {
      const name = typeof key === "string" ? unescapeName(key) : undefined;
      const property = name === undefined ? undefined : schema.properties.get(name);
      const item = name !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
      return property === undefined || item === undefined || item === null ? undefined : celValueOf(property, item);
    },
    ...(unseen === undefined ? {} : { unseen }),
  };
}

function listValue(schema: SchemaNode, value: JsonValue): ListValue {
  const { items } = schema;
  if (!Array.isArray(value))
    throw new CelFault("invalid data, expected an array for the provided schema with type=array");
  if (items === undefined) throw new CelFault("invalid array type, expected Items with a non-empty Schema");
  const list: ListValue = {
    kind: "list",
    size: value.length,
    at: (position) => celValueOf(items, value[position] ?? null),
  };
  if (schema.listType === "set") return { ...list, identity: (item) => item };
  return schema.listType === "map" ? { ...list, identity: keysOf(schema.listMapKeys) } : list;
}

const keysOf =
  (names: readonly string[]) =>
  (item: Value): Value =>
    listFrom(
      names.map((name) => {
        const escaped = escapeName(name);
        return escaped === undefined || typeof item !== "object" || item === null || !("get" in item)
          ? null
          : (item.get(escaped) ?? null);
      }),
    );
