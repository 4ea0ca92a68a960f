/** Fields of objects whose kind has no type here. Pure. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";

export function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

/** The objects of a list; none where there is no list. */
export function listAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonObject[] {
  const list = at(value, ...path);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

export const nameOf = (object: JsonObject): string => String(at(object, "metadata", "name") ?? "");
export const namespaceIn = (object: JsonObject): string | undefined => {
  const namespace = at(object, "metadata", "namespace");
  return typeof namespace === "string" ? namespace : undefined;
};
export const labelOf = (object: JsonObject, label: string): string | undefined => {
  const value = at(object, "metadata", "labels", label);
  return typeof value === "string" ? value : undefined;
};
export const annotationOf = (object: JsonObject, annotation: string): string | undefined => {
  const value = at(object, "metadata", "annotations", annotation);
  return typeof value === "string" ? value : undefined;
};
