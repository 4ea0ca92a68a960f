/** Fields of untyped objects: what is of the wrong type reads as empty. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";

export const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
export const object = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
export const objects = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
export const texts = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

/** The versions of a CustomResourceDefinition. */
export const versionsOf = (definition: JsonObject): readonly JsonObject[] => objects(object(definition.spec).versions);
