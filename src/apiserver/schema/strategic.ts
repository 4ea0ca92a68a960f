/**
 * Strategic merge: a merge patch that knows lists. A list whose entries have a merge key is merged entry by entry; the patch
 * may carry directives ($patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/…), which never reach the object.
 */
import { define, equal, isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { goValue } from "../../schema/go-text.ts";
import { anything, type SchemaNode } from "../../schema/node.ts";
import { badRequest, Refusal } from "../status.ts";
import { normalizeOrder } from "./strategic-order.ts";

const directive = "$patch";
const retainKeys = "$retainKeys";
const orderPrefix = "$setElementOrder/";
const deletionPrefix = "$deleteFromPrimitiveList/";

/** Returns a new object; neither argument is changed. */
export function applyStrategicPatch(schema: SchemaNode, current: JsonObject, patch: JsonObject): JsonObject {
  return mergeMap(schema, structuredClone(current), structuredClone(patch));
}

const refuse = (message: string): Refusal => new Refusal(500, "", message);
const noMergeKey = (item: JsonValue, key: string): Refusal =>
  refuse(`map: ${goValue(item)} does not contain declared merge key: ${key}`);

const fieldOf = (schema: SchemaNode, name: string): SchemaNode => {
  const found = schema.properties.get(name) ?? schema.additional;
  return typeof found === "object" ? found : anything;
};
const replaces = (schema: SchemaNode): boolean => schema.patch?.strategies.includes("replace") === true;
const merges = (schema: SchemaNode): boolean => schema.patch?.strategies.includes("merge") === true;

/** Both arguments are the function's own to change. */
function mergeMap(schema: SchemaNode, original: JsonObject, patch: JsonObject): JsonObject {
  if (patch[directive] !== undefined) {
    const { [directive]: kind, ...rest } = patch;
    if (kind === "replace") return rest;
    if (kind === "delete") return {};
    throw refuse(`unknown patch type: ${goValue(kind ?? null)} in map: ${goValue(patch)}`);
  }
  retain(original, patch);
  for (const key of Object.keys(patch)) if (key.startsWith(orderPrefix)) mergeOrdered(schema, original, patch, key);
  for (const [key, value] of Object.entries(patch)) {
    const isDeletion = key.startsWith(deletionPrefix);
    mergeField(schema, original, isDeletion ? key.slice(deletionPrefix.length) : key, value ?? null, isDeletion);
  }
  return original;
}

function mergeField(
  schema: SchemaNode,
  original: JsonObject,
  name: string,
  value: JsonValue,
  isDeletion: boolean,
): void {
  if (value === null) {
    delete original[name];
    return;
  }
  const before = Object.hasOwn(original, name) ? original[name] : undefined;
  const field = fieldOf(schema, name);
  if (isObject(before) && isObject(value))
    define(original, name, replaces(field) ? value : mergeMap(field, before, value));
  else if (Array.isArray(before) && Array.isArray(value))
    define(original, name, mergeLists(field, before, value, isDeletion));
  else if (!isDeletion) define(original, name, withoutDirectives(value) ?? null);
}

/** Everything not named in $retainKeys goes, so that switching a union's member leaves nothing of the old one. */
function retain(original: JsonObject, patch: JsonObject): void {
  const kept = patch[retainKeys];
  if (kept === undefined) return;
  delete patch[retainKeys];
  const bad = badRequest("invalid patch format of retainKeys");
  if (!Array.isArray(kept)) throw bad;
  for (const [key, value] of Object.entries(patch))
    if (value !== null && !key.startsWith(deletionPrefix) && !key.startsWith(orderPrefix) && !kept.includes(key))
      throw bad;
  for (const key of Object.keys(original)) if (!kept.includes(key)) delete original[key];
}

/** Entries marked with a directive are orders, not data; undefined when the value itself is one. */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (value[directive] !== undefined) return undefined;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => [key, item === undefined ? undefined : withoutDirectives(item)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}

function mergeLists(schema: SchemaNode, original: JsonValue[], patch: JsonValue[], isDeletion: boolean): JsonValue[] {
  if (!merges(schema) && !isDeletion) return patch;
  if (original.length === 0 && patch.length === 0) return original;
  const mergeKey = schema.patch?.mergeKey ?? "";
  if (!isListOfMaps(original, patch)) {
    if (isDeletion) return original.filter((item) => !patch.some((gone) => equal(gone, item)));
    return ordered([...new Set([...original, ...patch])], patch, original, mergeKey);
  }
  if (mergeKey === "") throw refuse(`cannot merge lists without merge key for ${schema.definition ?? "the field"}`);
  const { kept, changes } = obeyDirectives(original, patch, mergeKey);
  return ordered(mergeEntries(schema, kept, changes, mergeKey), changes, kept, mergeKey);
}

function isListOfMaps(...lists: readonly (readonly JsonValue[])[]): boolean {
  const items = lists.flat();
  const maps = items.filter(isObject).length;
  if (items.some(Array.isArray)) throw new Refusal(422, "", "lists of lists are not supported");
  if (maps > 0 && maps < items.length) throw refuse("list element types are not identical");
  return maps > 0;
}

interface Obeyed {
  readonly kept: JsonValue[];
  readonly changes: JsonValue[];
}

function obeyDirectives(original: JsonValue[], patch: readonly JsonValue[], mergeKey: string): Obeyed {
  let kept = original;
  let replaced = false;
  const changes: JsonValue[] = [];
  for (const item of patch) {
    const entry = isObject(item) ? item : {};
    const kind = entry[directive];
    if (kind === undefined) changes.push(entry);
    else if (kind === "replace") replaced = true;
    else if (kind === "delete") {
      const key = entry[mergeKey];
      if (key === undefined) throw noMergeKey(entry, mergeKey);
      kept = kept.filter((candidate) => !(isObject(candidate) && equal(candidate[mergeKey], key)));
    } else if (kind === "merge") throw refuse("merging lists cannot yet be specified in the patch");
    else throw refuse(`unknown patch type: ${goValue(kind)} in map: ${goValue(entry)}`);
  }
  return replaced ? { kept: changes, changes: [] } : { kept, changes };
}

function mergeEntries(
  schema: SchemaNode,
  original: readonly JsonValue[],
  changes: readonly JsonValue[],
  mergeKey: string,
): JsonValue[] {
  const merged = [...original];
  for (const change of changes) {
    const entry = isObject(change) ? change : {};
    const key = entry[mergeKey];
    if (key === undefined) throw noMergeKey(entry, mergeKey);
    const at = merged.findIndex((candidate) => isObject(candidate) && equal(candidate[mergeKey], key));
    const before = merged[at];
    if (isObject(before)) merged[at] = mergeMap(schema.items ?? anything, before, entry);
    else merged.push(withoutDirectives(entry) ?? {});
  }
  return merged;
}

/** What the patch names comes in the patch's order, the rest keeps its place relative to it. */
function ordered(
  merged: readonly JsonValue[],
  order: readonly JsonValue[],
  before: readonly JsonValue[],
  mergeKey: string,
): JsonValue[] {
  const isNamed = (item: JsonValue): boolean => order.some((named) => isSameEntry(named, item, mergeKey));
  return normalizeOrder({
    patched: merged.filter(isNamed),
    untouched: merged.filter((item) => !isNamed(item)),
    order,
    before,
    isSame: (a, b) => isSameEntry(a, b, mergeKey),
  });
}

const isSameEntry = (a: JsonValue, b: JsonValue, mergeKey: string): boolean =>
  mergeKey === "" || !isObject(a) || !isObject(b) ? equal(a, b) : equal(a[mergeKey], b[mergeKey]);

/** $setElementOrder/<field>: merges the field now, and puts it into the order given. */
function mergeOrdered(schema: SchemaNode, original: JsonObject, patch: JsonObject, key: string): void {
  const name = key.slice(orderPrefix.length);
  const order = patch[key];
  delete patch[key];
  if (!Array.isArray(order)) throw badRequest("invalid patch format of setElementOrder list");
  const [before, change] = [original[name], patch[name]];
  if (before === undefined && change === undefined) return;
  if ((before !== undefined && !Array.isArray(before)) || (change !== undefined && !Array.isArray(change)))
    throw badRequest("invalid patch format of setElementOrder list");
  const field = fieldOf(schema, name);
  const mergeKey = field.patch?.mergeKey ?? "";
  checkOrder(change ?? [], order, mergeKey);
  const merged = mergedBy(field, before, change);
  original[name] = ordered(merged, order, before ?? [], mergeKey);
  delete patch[name];
}

function mergedBy(field: SchemaNode, before: JsonValue[] | undefined, change: JsonValue[] | undefined): JsonValue[] {
  if (change === undefined) return before ?? [];
  if (before === undefined) return withoutDirectives(change) as JsonValue[];
  return mergeLists(field, before, change, false);
}

/** The entries of the patch must come in the order the directive gives. */
function checkOrder(patch: readonly JsonValue[], order: readonly JsonValue[], mergeKey: string): void {
  const entries = patch.filter((item) => !(isObject(item) && item[directive] !== undefined));
  if (entries.length === 0 || order.length === 0) return;
  let next = 0;
  for (const named of order) {
    const entry = entries[next];
    if (entry !== undefined && isSameEntry(entry, named, mergeKey)) next += 1;
  }
  if (next < entries.length)
    throw refuse(
      `The order in patch list:\n${goValue([...patch])}\n doesn't match ${orderPrefix.slice(0, -1)} list:\n${goValue([...order])}\n`,
    );
}
