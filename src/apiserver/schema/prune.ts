/** Fitting an object to its schema: fields nobody declared go, nulls nobody allowed go, defaults come. All in place. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { SchemaNode } from "./node.ts";

const typeMeta: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Removes what the schema does not know; returns the removed paths, in the order of the object. */
export function prune(root: SchemaNode, object: JsonObject): string[] {
  const removed: string[] = [];
  pruneObject(root, object, "", { removed, preserve: false }, true);
  return removed;
}

/** The same below an object's root: for defaults, which are parts of objects. */
export function pruneAny(schema: SchemaNode, value: JsonValue): readonly string[] {
  const removed: string[] = [];
  pruneValue(schema, value, "", { removed, preserve: false });
  return removed.sort();
}

interface Removal {
  readonly removed: string[];
  /** Inside of a list that preserves: its entries preserve too. */
  readonly preserve: boolean;
}

function pruneValue(schema: SchemaNode | undefined, value: JsonValue | undefined, path: string, how: Removal): void {
  if (isObject(value)) pruneObject(schema, value, path, how, false);
  if (!Array.isArray(value)) return;
  const preserve = how.preserve || schema?.preserveUnknown === true;
  if (preserve && schema?.items === undefined) return;
  for (const [index, item] of value.entries())
    pruneValue(schema?.items, item, `${path}[${index}]`, { removed: how.removed, preserve });
}

function pruneObject(
  schema: SchemaNode | undefined,
  value: JsonObject,
  path: string,
  { removed, preserve }: Removal,
  isRoot: boolean,
): void {
  const below: Removal = { removed, preserve: false };
  for (const name of Object.keys(value)) {
    if ((isRoot || schema?.embeddedResource === true) && typeMeta.has(name)) continue;
    const fieldPath = path === "" ? name : `${path}.${name}`;
    const property = schema?.properties.get(name);
    if (property !== undefined) pruneValue(property, value[name], fieldPath, below);
    else if (schema?.additional !== undefined)
      pruneValue(typeof schema.additional === "object" ? schema.additional : undefined, value[name], fieldPath, below);
    else if (!preserve && schema?.preserveUnknown !== true) {
      removed.push(fieldPath);
      delete value[name];
    }
  }
}

/** A null where the schema allows none and has no default for it is as good as absent. */
export function dropNulls(schema: SchemaNode | undefined, value: JsonValue | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) for (const item of value) dropNulls(schema.items, item);
  else if (isObject(value))
    for (const name of Object.keys(value)) {
      const property = propertyOf(schema, name);
      if (value[name] === null && property !== undefined && !property.nullable && property.defaultValue === undefined)
        delete value[name];
      else dropNulls(property, value[name]);
    }
}

function propertyOf(schema: SchemaNode | undefined, name: string): SchemaNode | undefined {
  const property = schema?.properties.get(name) ?? schema?.additional;
  return typeof property === "object" ? property : undefined;
}

const isMissing = (schema: SchemaNode, value: JsonValue | undefined): boolean =>
  value === undefined || (value === null && !schema.nullable);

export function applyDefaults(schema: SchemaNode, value: JsonValue | undefined): void {
  if (Array.isArray(value)) defaultItems(schema, value);
  else if (isObject(value)) defaultFields(schema, value);
}

function defaultItems(schema: SchemaNode, items: JsonValue[]): void {
  const { items: itemSchema } = schema;
  if (itemSchema === undefined) return;
  for (const [index, item] of items.entries()) {
    if (item === null && !itemSchema.nullable && itemSchema.defaultValue !== undefined)
      items[index] = structuredClone(itemSchema.defaultValue);
    applyDefaults(itemSchema, items[index]);
  }
}

function defaultFields(schema: SchemaNode, value: JsonObject): void {
  for (const [name, property] of schema.properties)
    if (property.defaultValue !== undefined && isMissing(property, own(value, name)))
      value[name] = structuredClone(property.defaultValue);
  for (const name of Object.keys(value)) {
    const property = propertyOf(schema, name);
    if (property === undefined) continue;
    if (value[name] === null && isMissing(property, null) && property.defaultValue !== undefined)
      value[name] = structuredClone(property.defaultValue);
    applyDefaults(property, value[name]);
  }
}

const own = (value: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;
