/** Lists that are sets or maps must not hold the same entry twice. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { child, duplicate, type FieldError, indexed, invalid, wholeObject } from "./field-error.ts";
import { goJson } from "./go-text.ts";
import type { SchemaNode } from "./node.ts";

export function duplicatesIn(
  schema: SchemaNode,
  value: JsonValue | undefined,
  path: string = wholeObject,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, path, errors);
  return errors;
}

function visit(schema: SchemaNode, value: JsonValue | undefined, path: string, errors: FieldError[]): void {
  if (!hasUniqueLists(schema)) return;
  if (Array.isArray(value)) {
    if (schema.listType === "set") inSet(value, path, errors);
    if (schema.listType === "map") inMap(schema.listMapKeys, value, path, errors);
    const { items } = schema;
    if (items !== undefined)
      for (const [index, item] of value.entries()) visit(items, item, indexed(path, index), errors);
  } else if (isObject(value)) visitFields(schema, value, path, errors);
}

function visitFields(schema: SchemaNode, value: JsonObject, path: string, errors: FieldError[]): void {
  for (const [name, item] of Object.entries(value)) {
    const property = schema.properties.get(name);
    if (property !== undefined) visit(property, item, child(path, name), errors);
    if (typeof schema.additional === "object") visit(schema.additional, item, indexed(path, name), errors);
  }
}

const known = new WeakMap<SchemaNode, boolean>();

/** Whether there is such a list at all, at any depth: most schemas have none, and then nothing need be looked at. */
function hasUniqueLists(schema: SchemaNode): boolean {
  const answer = known.get(schema);
  if (answer !== undefined) return answer;
  known.set(schema, true); // Until it is known: a schema that holds itself is then looked at.
  const { listType, items, properties, additional } = schema;
  const below = [items, additional, ...properties.values()].filter((node) => typeof node === "object");
  const found = listType === "set" || listType === "map" || below.some(hasUniqueLists);
  known.set(schema, found);
  return found;
}

/** The second of its kind is reported, a third is not. */
function repeated(keys: readonly string[]): readonly number[] {
  const seen = new Map<string, number>();
  return keys.flatMap((key, index) => {
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times === 2 ? [index] : [];
  });
}

function inSet(items: readonly JsonValue[], path: string, errors: FieldError[]): void {
  for (const index of repeated(items.map(goJson))) errors.push(duplicate(indexed(path, index), items[index]));
}

function inMap(names: readonly string[], items: readonly JsonValue[], path: string, errors: FieldError[]): void {
  const stray = items.findIndex((item) => item !== null && !isObject(item));
  if (stray !== -1) {
    errors.push(invalid(indexed(path, stray), items[stray], "must be an object for an array of list-type map"));
    return;
  }
  const keys = items.map((item) => keyFields(names, item));
  for (const index of repeated(keys.map(goJson))) errors.push(duplicate(indexed(path, index), keys[index]));
}

const keyFields = (names: readonly string[], item: JsonValue): JsonObject =>
  isObject(item)
    ? Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])))
    : {};
