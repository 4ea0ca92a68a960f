/** How a value is taken apart for ownership: into fields, into entries, or not at all. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { goJson } from "../../../schema/go-text.ts";
import { anything, type SchemaNode } from "../../../schema/node.ts";

export type Part = "leaf" | "map" | "list";

/** Lists are one piece unless the schema says set or map; maps are taken apart unless it says atomic. */
export function partOf(schema: SchemaNode, value: JsonValue | undefined): Part {
  if (Array.isArray(value)) return schema.listType === "set" || schema.listType === "map" ? "list" : "leaf";
  if (isObject(value)) return schema.mapType === "atomic" ? "leaf" : "map";
  return "leaf";
}

export function fieldSchema(schema: SchemaNode, name: string): SchemaNode {
  const found = schema.properties.get(name) ?? schema.additional;
  return typeof found === "object" ? found : anything;
}
export const itemSchema = (schema: SchemaNode): SchemaNode => schema.items ?? anything;

/** The element an entry of a set or map has in a path. */
export function elementOf(schema: SchemaNode, item: JsonValue): string {
  if (schema.listType !== "map") return `v:${goJson(item)}`;
  const entry = isObject(item) ? item : {};
  const properties = itemSchema(schema).properties;
  const keys: JsonObject = {};
  for (const name of [...schema.listMapKeys].sort())
    keys[name] = entry[name] ?? properties.get(name)?.defaultValue ?? null;
  return `k:${goJson(keys)}`;
}

/** Entries by their element, in order; of doubles the first. */
export function entriesOf(schema: SchemaNode, list: readonly JsonValue[]): Map<string, JsonValue> {
  const entries = new Map<string, JsonValue>();
  for (const item of list) {
    const element = elementOf(schema, item);
    if (!entries.has(element)) entries.set(element, item);
  }
  return entries;
}

export const isNothing = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
