/** The shape of CustomResourceDefinition objects themselves: a Go type, whose schemas nest without end. */
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import { isObject } from "../../../base/json.ts";
import { fitMetadata } from "../../../schema/embedded.ts";
import { jsonWord } from "../../../schema/go-text.ts";
import type { SchemaNode } from "../../../schema/node.ts";
import { prune } from "../../../schema/prune.ts";
import type { Shape } from "../../contracts.ts";
import { badRequest } from "../../status.ts";
import { definitionNode } from "../builtin.ts";

const kind = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" };
const root = (): SchemaNode =>
  definitionNode("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition");

export const definitionShape: Shape = {
  prune: (definition) => {
    const unknown = fitMetadata(definition, kind);
    const misfit = misfitOf(root(), definition, { struct: "CustomResourceDefinition", path: "" });
    if (misfit !== undefined)
      throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${misfit}`);
    dropEmpty(definition.spec);
    return [...unknown, ...prune(root(), definition).filter(isReported)];
  },
  defaults: () => undefined,
  validate: () => [],
};

/** "A schema or …" reads itself in Go, and does not say what it did not know. */
const readsItself: ReadonlySet<string> = new Set(["items", "additionalProperties", "additionalItems", "dependencies"]);
const holdsNames: ReadonlySet<string> = new Set(["properties", "patternProperties", "definitions"]);

function isReported(path: string): boolean {
  const words = path.split(/[.[\]]+/);
  for (let at = 0; at < words.length; at++) {
    if (holdsNames.has(words[at] ?? "")) at += 1;
    else if (at < words.length - 1 && readsItself.has(words[at] ?? "")) return false;
  }
  return true;
}

/** Fields whose type has a name of its own in Go. */
const namedTypes: Readonly<Record<string, string>> = {
  "spec.scope": "v1.ResourceScope",
  "spec.conversion.strategy": "v1.ConversionStrategyType",
};

const goTypes: Readonly<Record<string, string>> = {
  string: "string",
  boolean: "bool",
  integer: "int64",
  number: "float64",
};

interface Trail {
  readonly struct: string;
  readonly path: string;
}

/** What Go's decoder would say to a value of the wrong type; undefined when all fit. */
function misfitOf(node: SchemaNode, value: JsonValue | undefined, trail: Trail): string | undefined {
  if (value === undefined || value === null || node.types.length === 0 || node.intOrString) return undefined;
  const [type = ""] = node.types;
  if (!fits(type, value)) {
    const plain = node.format === "int32" ? "int32" : (goTypes[type] ?? typeName(node));
    const wanted = namedTypes[trail.path] ?? plain;
    return `json: cannot unmarshal ${jsonWord(value)} into Go struct field ${trail.struct}.${trail.path} of type ${wanted}`;
  }
  if (Array.isArray(value)) return firstOf(value, (item) => misfitOf(node.items ?? node, item, trail));
  return isObject(value) ? misfitInside(node, value, trail) : undefined;
}

function misfitInside(node: SchemaNode, value: JsonObject, trail: Trail): string | undefined {
  const struct = node.definition?.split(".").at(-1) ?? trail.struct;
  return firstOf(Object.entries(value), ([name, item]) => {
    const property = node.properties.get(name);
    if (property !== undefined && name !== "metadata")
      return misfitOf(property, item, { struct, path: trail.path === "" ? name : `${trail.path}.${name}` });
    return typeof node.additional === "object" ? misfitOf(node.additional, item, trail) : undefined;
  });
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fits(type: string, value: JsonValue): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return typeof value === "bigint" || Number.isInteger(value);
  return typeof value === type;
}

function typeName(node: SchemaNode): string {
  const name = (of: SchemaNode | undefined): string =>
    of?.definition === undefined
      ? (goTypes[of?.types[0] ?? ""] ?? "interface {}")
      : `v1.${of.definition.split(".").at(-1)}`;
  if (node.types[0] === "array") return `[]${name(node.items)}`;
  return typeof node.additional === "object" ? `map[string]${name(node.additional)}` : name(node);
}

/** Go leaves out what is empty, and null is no value for any field of these types. */
function dropEmpty(value: JsonValue | undefined): void {
  if (Array.isArray(value)) for (const item of value) dropEmpty(item);
  else if (isObject(value))
    for (const [name, item] of Object.entries(value))
      if (item === null && name !== "default" && name !== "example") delete value[name];
      else if (name !== "default" && name !== "example" && name !== "enum") dropEmpty(item);
}
