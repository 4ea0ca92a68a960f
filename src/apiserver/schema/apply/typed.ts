/** An applied object must fit its schema before anything is merged: ownership of a field nobody declared means nothing. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { goQuote, goValue } from "../../../schema/go-text.ts";
import type { SchemaNode } from "../../../schema/node.ts";
import { Refusal } from "../../status.ts";
import { printElement } from "./fields.ts";
import { elementOf, fieldSchema, itemSchema } from "./walk.ts";

export function refuseUntyped(schema: SchemaNode, applied: JsonObject): void {
  const problems: string[] = [];
  check(schema, applied, "", problems);
  if (problems.length === 0) return;
  const said = problems.length === 1 ? problems[0] : `errors:\n  ${problems.join("\n  ")}`;
  throw new Refusal(500, "", `failed to create typed patch object (${nameOf(applied)}): ${said}`);
}

function nameOf({ apiVersion, kind, metadata }: JsonObject): string {
  const { name = "", namespace = "" } = isObject(metadata) ? metadata : {};
  const version = String(apiVersion ?? "");
  return `${String(namespace)}/${String(name)}; ${version.includes("/") ? version : `/${version}`}, Kind=${String(kind ?? "")}`;
}

/** Structs say all they have; where the schema keeps what it does not know, anything goes. */
const isClosed = (schema: SchemaNode): boolean =>
  schema.properties.size > 0 && schema.additional === undefined && !schema.preserveUnknown;

const isLoose = (schema: SchemaNode): boolean => schema.types.length !== 1;

function check(schema: SchemaNode, value: JsonValue, path: string, problems: string[]): void {
  if (value === null || isLoose(schema)) return;
  const [type = ""] = schema.types;
  if (type === "object") checkMap(schema, value, path, problems);
  else if (type === "array") checkList(schema, value, path, problems);
  else {
    const problem = scalarProblem(type, value);
    if (problem !== undefined) problems.push(`${path}: ${problem}`);
  }
}

function scalarProblem(type: string, value: JsonValue): string | undefined {
  if (type === "string")
    return typeof value === "string"
      ? undefined
      : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
  if (type === "boolean") return typeof value === "boolean" ? undefined : `expected boolean, got &{${goValue(value)}}`;
  const isNumber = typeof value === "number" || typeof value === "bigint";
  return isNumber ? undefined : `expected numeric (int or float), got ${goKind(value)}`;
}

const goSyntax = (value: JsonValue): string => {
  if (typeof value === "string") return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return goValue(value);
  const entries = Object.entries(value).map(([key, item]) => `${goQuote(key)}:${goSyntax(item ?? null)}`);
  return `map[string]interface {}{${entries.join(", ")}}`;
};

const goKind = (value: JsonValue): string => {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
};

function checkMap(schema: SchemaNode, value: JsonValue, path: string, problems: string[]): void {
  if (!isObject(value)) {
    problems.push(`${path}: expected map, got &{${goValue(value)}}`);
    return;
  }
  for (const [name, item] of Object.entries(value)) {
    const at = `${path}.${name}`;
    if (isClosed(schema) && !schema.properties.has(name)) problems.push(`${at}: field not declared in schema`);
    else check(fieldSchema(schema, name), item ?? null, at, problems);
  }
}

function checkList(schema: SchemaNode, value: JsonValue, path: string, problems: string[]): void {
  if (!Array.isArray(value)) {
    problems.push(`${path}: expected list, got &{${goValue(value)}}`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    if (schema.listType === "map" && !isObject(item)) {
      problems.push(`${path}: element ${index}: associative list with keys may not have non-map elements`);
      continue;
    }
    const element = schema.listType === "map" || schema.listType === "set" ? elementOf(schema, item) : `i:${index}`;
    if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${printElement(element)}`);
    seen.add(element);
    check(itemSchema(schema), item, `${path}${printElement(element)}`, problems);
  }
}
