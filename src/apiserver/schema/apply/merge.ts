/** Two values into one: what is applied over what is there, and what is there without some fields. */
import { define, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { SchemaNode } from "../../../schema/node.ts";
import type { Fields } from "./fields.ts";
import { elementOf, entriesOf, fieldSchema, isNothing, itemSchema, partOf } from "./walk.ts";

/** The applied value wins; what it does not speak about stays. */
export function mergeApplied(
  schema: SchemaNode,
  live: JsonValue | undefined,
  applied: JsonValue | undefined,
): JsonValue | undefined {
  if (applied === undefined) return live;
  if (live === undefined || live === null) return applied;
  if (isNothing(live) && isNothing(applied)) return applied;
  const part = partOf(schema, applied);
  if (part === "map" && isObject(live) && isObject(applied)) return mergeFields(schema, live, applied);
  if (part === "list" && Array.isArray(live) && Array.isArray(applied)) return mergeEntries(schema, live, applied);
  return applied;
}

function mergeFields(schema: SchemaNode, live: JsonObject, applied: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const name of new Set([...Object.keys(live), ...Object.keys(applied)])) {
    const value = mergeApplied(
      fieldSchema(schema, name),
      Object.hasOwn(live, name) ? live[name] : undefined,
      Object.hasOwn(applied, name) ? applied[name] : undefined,
    );
    if (value !== undefined) define(merged, name, value);
  }
  return merged;
}

/**
 * Shared entries come in the applied order, entries of the live list alone stay before the shared one they preceded,
 * new ones come where they are applied.
 */
function mergeEntries(schema: SchemaNode, live: readonly JsonValue[], applied: readonly JsonValue[]): JsonValue[] {
  const [left, right] = [entriesOf(schema, live), entriesOf(schema, applied)];
  const shared = [...right.keys()].filter((element) => left.has(element));
  const [leftKeys, rightKeys] = [[...left.keys()], [...right.keys()]];
  const result: JsonValue[] = [];
  const taken = new Set<string>();
  const take = (element: string): void => {
    taken.add(element);
    const value = mergeApplied(itemSchema(schema), left.get(element), right.get(element));
    if (value !== undefined) result.push(value);
    if (shared[0] === element) shared.shift();
  };
  let [l, r] = [0, 0];
  while (l < leftKeys.length || r < rightKeys.length) {
    const [ours, theirs] = [leftKeys[l], rightKeys[r]];
    if (ours !== undefined && ours === theirs) {
      take(ours);
      l += 1;
      r += 1;
    } else if (ours !== undefined && !right.has(ours)) {
      take(ours);
      l += 1;
    } else if (
      ours !== undefined &&
      (taken.has(ours) || (theirs !== undefined && shared[0] !== undefined && shared[0] !== ours))
    )
      l += 1;
    else if (theirs !== undefined) {
      take(theirs);
      r += 1;
    } else l += 1;
  }
  return result;
}

/** The value without the members of `gone`; undefined when nothing of it is left that was not emptied on purpose. */
export function removeFields(schema: SchemaNode, value: JsonValue, gone: Fields): JsonValue | undefined {
  const part = partOf(schema, value);
  if (part === "map" && isObject(value)) return removeFromMap(schema, value, gone);
  if (part === "list" && Array.isArray(value)) return removeFromList(schema, value, gone);
  return typeof value === "object" && value !== null ? undefined : value;
}

const emptied = (value: JsonValue): JsonValue => (Array.isArray(value) ? [] : isObject(value) ? {} : null);

function removeFromMap(schema: SchemaNode, value: JsonObject, gone: Fields): JsonObject | undefined {
  const kept: JsonObject = {};
  let touched = false;
  for (const [name, item] of Object.entries(value)) {
    const child = gone.children.get(`f:${name}`);
    if (item === undefined || child?.isMember === true) continue;
    if (child === undefined || child.children.size === 0) define(kept, name, item);
    else {
      touched = true;
      define(kept, name, removeFields(fieldSchema(schema, name), item, child) ?? emptied(item));
    }
  }
  return Object.keys(kept).length > 0 || touched ? kept : undefined;
}

function removeFromList(schema: SchemaNode, list: readonly JsonValue[], gone: Fields): JsonValue[] | undefined {
  const kept: JsonValue[] = [];
  let touched = false;
  for (const item of list) {
    const child = gone.children.get(elementOf(schema, item));
    if (child?.isMember === true) continue;
    if (child === undefined || child.children.size === 0) kept.push(item);
    else {
      touched = true;
      kept.push(removeFields(itemSchema(schema), item, child) ?? emptied(item));
    }
  }
  return kept.length > 0 || touched ? kept : undefined;
}
