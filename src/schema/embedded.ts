/**
 * apiVersion, kind and metadata have a type of their own, at the root of an object and wherever a schema embeds a whole
 * resource: the schema does not describe them, Go's ObjectMeta does.
 */
import { clone, define, isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { Metadata } from "./contracts.ts";
import { DecodeError } from "./decode-error.ts";
import { child, type FieldError, indexed, invalid, required, wholeObject } from "./field-error.ts";
import { fitToGo } from "./go/fit.ts";
import { GoValueError } from "./go/opaque.ts";
import { type GoStruct, goStruct } from "./go/types.ts";
import { jsonWord } from "./go-text.ts";
import { metadataErrors } from "./metadata.ts";
import { label1035Problems } from "./names.ts";
import type { SchemaNode } from "./node.ts";

let objectMeta: GoStruct | undefined;

function metaStruct(): GoStruct {
  const type = goStruct("v1", "ConfigMap")?.byName.get("metadata")?.type;
  if (type?.kind !== "struct") throw new Error("ConfigMap has no metadata: the table of Go types is damaged");
  objectMeta ??= type.fields();
  return objectMeta;
}

/** Fits the root's metadata; returns the unknown fields in it. */
export function fitMetadata(
  object: JsonObject,
  of: { group: string; version: string; kind: string },
): readonly string[] {
  if (object.metadata === undefined) return [];
  try {
    return fitInto(object, "metadata");
  } catch (reason) {
    if (!(reason instanceof GoValueError)) throw reason;
    throw new DecodeError(`${of.kind} in version "${of.version}" cannot be handled as a ${of.kind}: ${reason.message}`);
  }
}

function fitInto(object: JsonObject, path: string): readonly string[] {
  const given = object.metadata;
  if (given === null) {
    object.metadata = {};
    return [];
  }
  if (!isObject(given))
    throw new GoValueError(`json: cannot unmarshal ${jsonWord(given)} into Go value of type v1.ObjectMeta`);
  const { object: fitted, unknown } = fitToGo(metaStruct(), given);
  object.metadata = fitted;
  return unknown.map((name) => `${path}.${name}`);
}

/** Fits what is embedded below the root; returns the unknown fields of its metadata. */
export function coerceEmbedded(root: SchemaNode, object: JsonObject): readonly string[] {
  if (!embeds(root)) return [];
  // In place, so not in parts that the stored object has as well.
  for (const [name, part] of Object.entries(object)) if (part !== undefined) define(object, name, clone(part));
  return coerce(root, object, wholeObject);
}

function coerce(schema: SchemaNode, value: JsonValue | undefined, path: string): readonly string[] {
  if (!embeds(schema)) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, index) => coerce(items, item, indexed(path, index)));
  }
  if (!isObject(value)) return [];
  const unknown: string[] = [];
  if (schema.embeddedResource && value.metadata !== undefined && isObject(value.metadata))
    unknown.push(...fitQuietly(value, child(path, "metadata")));
  for (const [name, item] of Object.entries(value)) {
    const property = schema.properties.get(name);
    if (property !== undefined) unknown.push(...coerce(property, item, child(path, name)));
    else if (typeof schema.additional === "object")
      unknown.push(...coerce(schema.additional, item, indexed(path, name)));
  }
  return unknown;
}

function fitQuietly(value: JsonObject, path: string): readonly string[] {
  try {
    return fitInto(value, path);
  } catch (reason) {
    if (!(reason instanceof GoValueError)) throw reason;
    throw new DecodeError(`${path}: Invalid value: ${reason.message}`);
  }
}

const known = new WeakMap<SchemaNode, boolean>();

/** Whether anything at or below this node embeds a resource: almost never, so the walk is saved. */
function embeds(schema: SchemaNode): boolean {
  const remembered = known.get(schema);
  if (remembered !== undefined) return remembered;
  const found =
    schema.embeddedResource ||
    (schema.items !== undefined && embeds(schema.items)) ||
    (typeof schema.additional === "object" && embeds(schema.additional)) ||
    [...schema.properties.values()].some(embeds);
  known.set(schema, found);
  return found;
}

export function embeddedErrors(
  schema: SchemaNode,
  value: JsonValue | undefined,
  path: string = wholeObject,
): readonly FieldError[] {
  if (!embeds(schema)) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, index) => embeddedErrors(items, item, indexed(path, index)));
  }
  if (!isObject(value)) return [];
  const errors = schema.embeddedResource ? [...typeMetaErrors(value, path)] : [];
  for (const [name, item] of Object.entries(value)) {
    const property = schema.properties.get(name);
    if (property !== undefined) errors.push(...embeddedErrors(property, item, child(path, name)));
    else if (typeof schema.additional === "object")
      errors.push(...embeddedErrors(schema.additional, item, indexed(path, name)));
  }
  return errors;
}

function typeMetaErrors(value: JsonObject, path: string): readonly FieldError[] {
  const errors = (["apiVersion", "kind"] as const).flatMap((name) => typeErrors(name, value[name], child(path, name)));
  return isObject(value.metadata) ? [...errors, ...embeddedMetadataErrors(value.metadata, path)] : errors;
}

function typeErrors(name: "apiVersion" | "kind", given: JsonValue | undefined, field: string): readonly FieldError[] {
  if (given === undefined) return [required(field)];
  if (typeof given !== "string") return [invalid(field, given, "must be a string")];
  if (given === "") return [invalid(field, given, "must not be empty")];
  if (name === "apiVersion")
    return given.split("/").length > 2 ? [invalid(field, given, `unexpected GroupVersion string: ${given}`)] : [];
  const problems = label1035Problems(given.toLowerCase());
  return problems.length === 0
    ? []
    : [invalid(field, given, `may have mixed case, but should otherwise match: ${problems.join(",")}`)];
}

/** A name may be missing here; all else is judged as for any object. */
function embeddedMetadataErrors(metadata: Metadata, path: string): readonly FieldError[] {
  const scope = (metadata.namespace ?? "") === "" ? "cluster" : "namespace";
  const named = (metadata.name ?? "") === "" ? { ...metadata, name: "fakename" } : metadata;
  return metadataErrors(named, { scope, nameRule: "pathSegment" }).map((error) => ({
    ...error,
    field: child(path, error.field),
  }));
}
