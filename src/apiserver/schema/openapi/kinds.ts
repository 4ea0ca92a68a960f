/** The schemas of served kinds and their lists, built-in and custom, under the names OpenAPI gives them. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { object, text, versionsOf } from "../../../schema/fields.ts";
import type { Resource } from "../../contracts.ts";
import { definitionOf } from "../builtin.ts";
import { closure, commonNames, type Dialect, listMetaName, objectMetaName } from "./definitions.ts";

/** "snapshot.storage.k8s.io", "v1", "VolumeSnapshot" → "io.k8s.storage.snapshot.v1.VolumeSnapshot". */
export const schemaName = ({ group, version, kind }: Pick<Resource, "group" | "version" | "kind">): string =>
  definitionOf(group, version, kind) ??
  [...group.split(".").reverse(), version, kind].filter((part) => part !== "").join(".");

export const listName = (resource: Resource): string => {
  const name = schemaName(resource);
  return `${name.slice(0, name.lastIndexOf(".") + 1)}${resource.listKind}`;
};

const typeMeta: JsonObject = {
  apiVersion: { type: "string", description: "The version of the API this object is written in." },
  kind: { type: "string", description: "What this object is; set by the server's answer and never changed." },
};

const gvk = (group: string, version: string, kind: string): JsonValue => [{ group, version, kind }];

function referTo(name: string, dialect: Dialect, description: string): JsonObject {
  const reference = { $ref: dialect.refer(name) };
  return dialect.wraps ? { description, allOf: [reference] } : { description, ...reference };
}

const metadataOf = (dialect: Dialect): JsonObject =>
  referTo(objectMetaName, dialect, "Name, labels, owners and the server's own records of the object.");

/** What a schema means without saying it is said to clients: the two types of a number-or-text, the head of a resource. */
function spelledOut(schema: JsonObject, dialect: Dialect): JsonObject {
  const below = (value: JsonValue | undefined): JsonValue | undefined =>
    isObject(value) ? spelledOut(value, dialect) : value;
  const made: JsonObject = { ...schema };
  if (isObject(schema.items)) made.items = spelledOut(schema.items, dialect);
  if (isObject(schema.additionalProperties))
    made.additionalProperties = spelledOut(schema.additionalProperties, dialect);
  if (isObject(schema.properties))
    made.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, below(value)]),
    );
  if (schema["x-kubernetes-int-or-string"] === true && schema.anyOf === undefined && schema.allOf === undefined)
    made.anyOf = [{ type: "integer" }, { type: "string" }];
  if (schema["x-kubernetes-embedded-resource"] !== true) return made;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    ...made,
    properties: { ...object(made.properties), ...typeMeta, metadata: metadataOf(dialect) },
    required: [...new Set([...required, "kind", "apiVersion"])],
  };
}

function customSchema(resource: Resource, dialect: Dialect): JsonObject {
  const version = versionsOf(resource.definition ?? {}).find((candidate) => text(candidate.name) === resource.version);
  const raw = object(object(version?.schema).openAPIV3Schema);
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...own } = object(raw.properties);
  const properties: JsonObject = {
    ...typeMeta,
    metadata: metadataOf(dialect),
    ...object(spelledOut({ properties: own }, dialect).properties),
  };
  return {
    ...(dialect.wraps ? raw : asV2(raw)),
    properties: dialect.wraps ? properties : asV2(properties),
    "x-kubernetes-group-version-kind": gvk(resource.group, resource.version, resource.kind),
  };
}

/** What v2 has no word for is left out there, as Kubernetes does. */
const notInV2: ReadonlySet<string> = new Set(["oneOf", "anyOf", "not", "nullable"]);

function asV2(value: JsonObject): JsonObject {
  const entries = Object.entries(value).filter(([name]) => !notInV2.has(name));
  return Object.fromEntries(entries.map(([name, item]) => [name, isObject(item) ? asV2(item) : item]));
}

const listSchema = (resource: Resource, dialect: Dialect): JsonObject => {
  const entry = { $ref: dialect.refer(schemaName(resource)) };
  return {
    type: "object",
    required: ["items"],
    properties: {
      ...typeMeta,
      items: { type: "array", items: dialect.wraps ? { allOf: [entry], default: {} } : entry },
      metadata: {
        ...referTo(listMetaName, dialect, "The version of the list, and where its next page begins."),
        ...(dialect.wraps ? { default: {} } : {}),
      },
    },
    "x-kubernetes-group-version-kind": gvk(resource.group, resource.version, resource.listKind),
  };
};

/** All schemas that documents about these resources need. */
export function schemasOf(resources: readonly Resource[], dialect: Dialect): JsonObject {
  const builtIn = resources.flatMap((resource) =>
    resource.definition === undefined ? [definitionOf(resource.group, resource.version, resource.kind)] : [],
  );
  const schemas = closure([...commonNames, ...builtIn.filter((name) => name !== undefined)], dialect);
  for (const resource of resources) {
    if (resource.definition !== undefined) schemas[schemaName(resource)] = customSchema(resource, dialect);
    if (resource.verbs.includes("list")) schemas[listName(resource)] = listSchema(resource, dialect);
  }
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
