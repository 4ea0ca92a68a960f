/**
 * A new value beside the old one it comes from, as far as the schema says which belongs to which: fields by name, entries
 * of list-type map by their keys, other lists only as a whole. Ratcheting asks whether a part is unchanged.
 */
import { equal, isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { SchemaNode } from "./node.ts";

export interface Correlation {
  readonly value: JsonValue;
  readonly old: JsonValue;
  unchanged(): boolean;
  /** undefined when the old object has no counterpart. */
  key(name: string): Correlation | undefined;
  index(position: number): Correlation | undefined;
}

export function correlate(schema: SchemaNode, value: JsonValue, old: JsonValue): Correlation {
  let same: boolean | undefined;
  let oldByKey: ReadonlyMap<string, JsonObject> | undefined;
  return {
    value,
    old,
    unchanged: () => {
      same ??= equal(value, old);
      return same;
    },
    key: (name) => {
      if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
        return undefined;
      const sub = schema.properties.get(name) ?? schema.additional;
      return typeof sub === "object" ? correlate(sub, value[name] ?? null, old[name] ?? null) : undefined;
    },
    index: (position) => {
      if (!Array.isArray(value) || !Array.isArray(old) || schema.listType !== "map" || schema.items === undefined)
        return undefined;
      const item = value[position];
      if (!isObject(item)) return undefined;
      oldByKey ??= entriesByKey(schema.listMapKeys, old);
      const counterpart = oldByKey.get(listKeyOf(schema.listMapKeys, item));
      return counterpart === undefined ? undefined : correlate(schema.items, item, counterpart);
    },
  };
}

const listKeyOf = (names: readonly string[], item: JsonObject): string =>
  JSON.stringify(
    names.map((name) => item[name] ?? null),
    (_, value) => (typeof value === "bigint" ? `${value}n` : value),
  );

export function entriesByKey(names: readonly string[], items: readonly JsonValue[]): ReadonlyMap<string, JsonObject> {
  const entries = new Map<string, JsonObject>();
  for (const item of items) {
    if (!isObject(item)) continue;
    const key = listKeyOf(names, item);
    if (!entries.has(key)) entries.set(key, item);
  }
  return entries;
}

/** Finds the old entries of a list-type map that new ones come from. */
export function oldEntries(
  schema: SchemaNode,
  old: JsonValue | undefined,
): (item: JsonValue) => JsonObject | undefined {
  if (schema.listType !== "map" || !Array.isArray(old)) return () => undefined;
  const byKey = entriesByKey(schema.listMapKeys, old);
  return (item) => (isObject(item) ? byKey.get(listKeyOf(schema.listMapKeys, item)) : undefined);
}
