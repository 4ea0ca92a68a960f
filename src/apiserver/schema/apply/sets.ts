/** From values to sets of fields: what an applied object names, and what changed between two objects. */
import { equal, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { SchemaNode } from "../../../schema/node.ts";
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
  compareAt(schema, old, now, { element: "", outer: undefined, nodes: { ...result } });
  return result;
}

/** A place in both objects, and its node in each of the three sets as far as one was needed. */
interface Place {
  readonly element: string;
  readonly outer: Place | undefined;
  readonly nodes: { added?: Fields; modified?: Fields; removed?: Fields };
}

function nodeAt(place: Place, set: keyof Comparison): Fields {
  const known = place.nodes[set];
  if (known !== undefined || place.outer === undefined) return known ?? noFields();
  const made = below(nodeAt(place.outer, set), place.element);
  place.nodes[set] = made;
  return made;
}

function mark(place: Place, set: keyof Comparison): void {
  nodeAt(place, set).isMember = true;
}

const inside = (outer: Place, element: string): Place => ({ element, outer, nodes: {} });

function compareAt(schema: SchemaNode, old: JsonValue | undefined, now: JsonValue | undefined, place: Place): void {
  if (old === now) return;
  const part = sharedPart(schema, old, now);
  if (part === "leaf") {
    if (old === undefined) mark(place, "added");
    else if (now === undefined) mark(place, "removed");
    else if (!equal(old, now)) mark(place, "modified");
    return;
  }
  if (part === "map") compareFields(schema, asMap(old), asMap(now), place);
  else compareEntries(schema, asList(old), asList(now), place);
  if (old === undefined) mark(place, "added");
  else if (now === undefined) mark(place, "removed");
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

function compareFields(schema: SchemaNode, old: JsonObject, now: JsonObject, place: Place): void {
  for (const name of Object.keys(now))
    compareAt(fieldSchema(schema, name), own(old, name), now[name], inside(place, `f:${name}`));
  for (const name of Object.keys(old))
    if (!Object.hasOwn(now, name))
      compareAt(fieldSchema(schema, name), old[name], undefined, inside(place, `f:${name}`));
}

const own = (value: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

function compareEntries(schema: SchemaNode, old: readonly JsonValue[], now: readonly JsonValue[], place: Place): void {
  const [before, after] = [entriesOf(schema, old), entriesOf(schema, now)];
  for (const element of new Set([...before.keys(), ...after.keys()]))
    compareAt(itemSchema(schema), before.get(element), after.get(element), inside(place, element));
}
