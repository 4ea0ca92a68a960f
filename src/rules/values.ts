/** Single values of plain JSON, as rules look at them. */
import { isObject, type JsonObject, type JsonValue, print } from "../base/json.ts";

/** The value at a path like "spec.source.volumeHandle"; undefined where there is none. Go writes an absent pointer as null. */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const key of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value ?? undefined;
}

/** Tells whether a name or a handle is given: an empty one is not. Go writes an absent pointer as null. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
export const isGiven = (object: JsonObject, path: string): boolean => isSet(valueAt(object, path));

/** For messages: short, whatever somebody wrote. */
export function valueText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return print(typeof value === "string" && value.length > textMax ? `${value.slice(0, textMax)}…` : value);
}
const textMax = 253;

/** Whatever is not text is refused by its type, and needs no comparison. */
export const textMember = (object: JsonObject, path: string): string | undefined => {
  const value = valueAt(object, path);
  return typeof value === "string" ? value : undefined;
};
