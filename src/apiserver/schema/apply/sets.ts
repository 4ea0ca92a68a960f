/** From values to sets of fields: what an applied object names, and what changed between two objects. */
import { equal, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { SchemaNode } from "../node.ts";
import { below, type Fields, noFields } from "./fields.ts";
import { elementOf, entriesOf, fieldSchema, isNothing, itemSchema, partOf } from "./walk.ts";

/** The fields an applied object speaks about. */
export function fieldsOf(schema: SchemaNode, value: JsonValue): Fields {
  const fields = noFields();
  collect(schema, value, fields);
  return fields;
}

function collect(schema: SchemaNode, value: JsonValue, into: Fields): void {
  const part = partOf(schema, value);
  if (part === "leaf") into.isMember = true;
  else if (part === "list" && Array.isArray(value))
    for (const item of value) {
      const child = below(into, elementOf(schema, item));
      collect(itemSchema(schema), item, child);
      child.isMember = true;
    }
  else if (isObject(value)) collectFields(schema, value, into);
}

function collectFields(schema: SchemaNode, value: JsonObject, into: Fields): void {
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const child = below(into, `f:${name}`);
    collect(fieldSchema(schema, name), item, child);
    const isEmptyMap = isObject(item) && Object.keys(item).length === 0;
    if (item === null || isEmptyMap || !schema.properties.has(name)) child.isMember = true;
    if (!child.isMember && child.children.size === 0) into.children.delete(`f:${name}`);
  }
}

export interface Comparison {
  readonly added: Fields;
  readonly modified: Fields;
  readonly removed: Fields;
}

export function compare(schema: SchemaNode, old: JsonValue, now: JsonValue): Comparison {
  const result: Comparison = { added: noFields(), modified: noFields(), removed: noFields() };
  compareAt(schema, old, now, [], result);
  return result;
}

type Path = readonly string[];

function mark(fields: Fields, path: Path): void {
  let at = fields;
  for (const element of path) at = below(at, element);
  at.isMember = true;
}

function compareAt(
  schema: SchemaNode,
  old: JsonValue | undefined,
  now: JsonValue | undefined,
  path: Path,
  result: Comparison,
): void {
  const part = sharedPart(schema, old, now);
  if (part === "leaf") {
    if (old === undefined) mark(result.added, path);
    else if (now === undefined) mark(result.removed, path);
    else if (!equal(old, now)) mark(result.modified, path);
    return;
  }
  if (part === "map") compareFields(schema, asMap(old), asMap(now), path, result);
  else compareEntries(schema, asList(old), asList(now), path, result);
  if (old === undefined) mark(result.added, path);
  else if (now === undefined) mark(result.removed, path);
}

const asMap = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
const asList = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

/** Two empty values, and two of different kinds, are compared as a whole. */
function sharedPart(
  schema: SchemaNode,
  old: JsonValue | undefined,
  now: JsonValue | undefined,
): "leaf" | "map" | "list" {
  if (isNothing(old) && isNothing(now)) return "leaf";
  if (old === undefined || old === null) return partOf(schema, now);
  if (now === undefined || now === null) return partOf(schema, old);
  const [before, after] = [partOf(schema, old), partOf(schema, now)];
  return before === after ? after : "leaf";
}

function compareFields(schema: SchemaNode, old: JsonObject, now: JsonObject, path: Path, result: Comparison): void {
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [before, after] = [own(old, name), own(now, name)];
    if (before !== undefined || after !== undefined)
      compareAt(fieldSchema(schema, name), before, after, [...path, `f:${name}`], result);
  }
}

const own = (value: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

function compareEntries(
  schema: SchemaNode,
  old: readonly JsonValue[],
  now: readonly JsonValue[],
  path: Path,
  result: Comparison,
): void {
  const [before, after] = [entriesOf(schema, old), entriesOf(schema, now)];
  for (const element of new Set([...before.keys(), ...after.keys()]))
    compareAt(itemSchema(schema), before.get(element), after.get(element), [...path, element], result);
}
