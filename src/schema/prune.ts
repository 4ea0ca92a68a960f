/**
 * Fitting an object to its schema: fields nobody declared go, nulls nobody allowed go, defaults come. The object given is
 * changed itself; its parts are not, for it may share them with the stored object: those that must change are copied.
 */
import { define, isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { SchemaNode } from "./node.ts";

const typeMeta: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Removes what the schema does not know; returns the removed paths, in the order of the object. */
export function prune(root: SchemaNode, object: JsonObject): string[] {
  const removed: string[] = [];
  pruneObject(root, object, "", { removed, preserve: false }, "itself");
  return removed;
}

/** The same for a part of an object, of which a default is one: nothing is changed, the pruned part is returned. */
export const pruned = (schema: SchemaNode, value: JsonValue): JsonValue | undefined =>
  pruneValue(schema, value, "", { removed: [], preserve: false });

/** Whether an object is changed itself, or a copy that is made when there is something to change. */
type Where = "itself" | "copy";

/** `change` says what becomes of each field; undefined removes it. */
function changeFields(
  object: JsonObject,
  where: Where,
  change: (name: string, item: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  let result = object;
  for (const name of Object.keys(object)) {
    const item = object[name];
    const made = change(name, item);
    if (made === item && made !== undefined) continue;
    if (result === object && where === "copy") result = { ...object };
    if (made === undefined) delete result[name];
    else define(result, name, made);
  }
  return result;
}

function changeItems(
  items: JsonValue[],
  change: (item: JsonValue, index: number) => JsonValue | undefined,
): JsonValue[] {
  let result = items;
  for (const [index, item] of items.entries()) {
    const made = change(item, index) ?? null;
    if (made === item) continue;
    if (result === items) result = [...items];
    result[index] = made;
  }
  return result;
}

interface Removal {
  readonly removed: string[];
  /** Inside of a list that preserves: its entries preserve too. */
  readonly preserve: boolean;
}

function pruneValue(
  schema: SchemaNode | undefined,
  value: JsonValue | undefined,
  path: string,
  how: Removal,
): JsonValue | undefined {
  if (isObject(value)) return pruneObject(schema, value, path, how, "copy");
  if (!Array.isArray(value)) return value;
  const preserve = how.preserve || schema?.preserveUnknown === true;
  if (preserve && schema?.items === undefined) return value;
  const below: Removal = { removed: how.removed, preserve };
  return changeItems(value, (item, index) => pruneValue(schema?.items, item, `${path}[${index}]`, below));
}

function pruneObject(
  schema: SchemaNode | undefined,
  value: JsonObject,
  path: string,
  { removed, preserve }: Removal,
  where: Where,
): JsonObject {
  const below: Removal = { removed, preserve: false };
  const hasTypeMeta = where === "itself" || schema?.embeddedResource === true;
  return changeFields(value, where, (name, item) => {
    if (hasTypeMeta && typeMeta.has(name)) return item;
    const fieldPath = path === "" ? name : `${path}.${name}`;
    const property = schema?.properties.get(name);
    if (property !== undefined) return pruneValue(property, item, fieldPath, below);
    if (schema?.additional !== undefined)
      return pruneValue(typeof schema.additional === "object" ? schema.additional : undefined, item, fieldPath, below);
    if (preserve || schema?.preserveUnknown === true) return item;
    removed.push(fieldPath);
    return undefined;
  });
}

/** A null where the schema allows none and has no default for it is as good as absent. */
export function dropNulls(schema: SchemaNode, object: JsonObject): void {
  dropNullFields(schema, object, "itself");
}

function withoutNulls(schema: SchemaNode | undefined, value: JsonValue | undefined): JsonValue | undefined {
  if (schema === undefined) return value;
  if (Array.isArray(value)) return changeItems(value, (item) => withoutNulls(schema.items, item));
  return isObject(value) ? dropNullFields(schema, value, "copy") : value;
}

const dropNullFields = (schema: SchemaNode, object: JsonObject, where: Where): JsonObject =>
  changeFields(object, where, (name, item) => {
    const property = propertyOf(schema, name);
    if (item === null && property !== undefined && !property.nullable && property.defaultValue === undefined)
      return undefined;
    return withoutNulls(property, item);
  });

function propertyOf(schema: SchemaNode | undefined, name: string): SchemaNode | undefined {
  const property = schema?.properties.get(name) ?? schema?.additional;
  return typeof property === "object" ? property : undefined;
}

const isMissing = (schema: SchemaNode, value: JsonValue | undefined): boolean =>
  value === undefined || (value === null && !schema.nullable);

export function applyDefaults(schema: SchemaNode, object: JsonObject): void {
  if (hasDefaults(schema)) defaultFields(schema, object, "itself");
}

/** The same for a stored object, which others share: a copy where something is missing, else the object itself. */
export const defaulted = <T extends JsonObject>(schema: SchemaNode, object: T): T =>
  hasDefaults(schema) ? (defaultFields(schema, object, "copy") as T) : object;

function withDefaults(schema: SchemaNode, value: JsonValue | undefined): JsonValue | undefined {
  if (!hasDefaults(schema)) return value;
  if (isObject(value)) return defaultFields(schema, value, "copy");
  const { items } = schema;
  return Array.isArray(value) && items !== undefined
    ? changeItems(value, (item) => withDefaults(items, item === null ? defaultFor(items, item) : item))
    : value;
}

function defaultFields(schema: SchemaNode, object: JsonObject, where: Where): JsonObject {
  let result = object;
  for (const [name, property] of schema.properties) {
    if (property.defaultValue === undefined || !isMissing(property, own(object, name))) continue;
    if (result === object && where === "copy") result = { ...object };
    result[name] = structuredClone(property.defaultValue);
  }
  return changeFields(result, result === object ? where : "itself", (name, item) => {
    const property = propertyOf(schema, name);
    return property === undefined ? item : withDefaults(property, item === null ? defaultFor(property, item) : item);
  });
}

/** A copy of the default in the place of a null that is not allowed. */
const defaultFor = (schema: SchemaNode, value: null): JsonValue =>
  isMissing(schema, value) && schema.defaultValue !== undefined ? structuredClone(schema.defaultValue) : value;

const known = new WeakMap<SchemaNode, boolean>();

/** Whether there is any default at or below this node: often there is none, and nothing need be looked at. */
function hasDefaults(schema: SchemaNode): boolean {
  const remembered = known.get(schema);
  if (remembered !== undefined) return remembered;
  const { items, properties, additional, defaultValue } = schema;
  const below = [items, additional, ...properties.values()].filter((node) => typeof node === "object");
  const found = defaultValue !== undefined || below.some(hasDefaults);
  known.set(schema, found);
  return found;
}

const own = (value: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;
