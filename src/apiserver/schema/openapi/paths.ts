/** Which requests a resource answers, as OpenAPI v3 paths. kubectl reads from them which patches and parameters it may use. */
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import type { Resource, Verb } from "../../contracts.ts";
import { listName, schemaName } from "./kinds.ts";

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";
const ref = (name: string): JsonObject => ({ schema: { $ref: `#/components/schemas/${name}` } });
const query = (name: string, type = "string"): JsonObject => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});
const inPath = (name: string): JsonObject => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string", uniqueItems: true },
});

const writeParameters: readonly JsonObject[] = [query("dryRun"), query("fieldManager"), query("fieldValidation")];
const listParameters: readonly JsonObject[] = [
  ...[query("allowWatchBookmarks", "boolean"), query("continue"), query("fieldSelector"), query("labelSelector")],
  ...[query("limit", "integer"), query("resourceVersion"), query("resourceVersionMatch")],
  ...[query("sendInitialEvents", "boolean"), query("timeoutSeconds", "integer"), query("watch", "boolean")],
];
const deleteParameters: readonly JsonObject[] = [
  ...[
    query("dryRun"),
    query("gracePeriodSeconds", "integer"),
    query("orphanDependents", "boolean"),
    query("propagationPolicy"),
  ],
];

interface Operation {
  readonly verb: Verb;
  readonly method: string;
  /** Kubernetes' own word for the verb. */
  readonly action: string;
  readonly parameters: readonly JsonObject[];
}

const onCollection: readonly Operation[] = [
  { verb: "list", method: "get", action: "list", parameters: listParameters },
  { verb: "create", method: "post", action: "post", parameters: writeParameters },
  {
    verb: "deletecollection",
    method: "delete",
    action: "deletecollection",
    parameters: [...listParameters.slice(1), ...deleteParameters],
  },
];
const onObject: readonly Operation[] = [
  { verb: "get", method: "get", action: "get", parameters: [] },
  { verb: "update", method: "put", action: "put", parameters: writeParameters },
  { verb: "delete", method: "delete", action: "delete", parameters: deleteParameters },
  { verb: "patch", method: "patch", action: "patch", parameters: [...writeParameters, query("force", "boolean")] },
];

const patchTypes = (resource: Resource): readonly string[] => [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  ...(resource.definition === undefined ? ["application/strategic-merge-patch+json"] : []),
];

function bodyOf(operation: Operation, resource: Resource, schema: string): JsonObject {
  if (operation.method === "patch") {
    const content = Object.fromEntries(patchTypes(resource).map((type) => [type, { schema: { type: "object" } }]));
    return { requestBody: { content, required: true } };
  }
  if (operation.method === "delete") return { requestBody: { content: { "*/*": ref(`${meta}.DeleteOptions`) } } };
  return operation.method === "get" ? {} : { requestBody: { content: { "*/*": ref(schema) }, required: true } };
}

interface Endpoint {
  readonly resource: Resource;
  readonly verbs: readonly Verb[];
  readonly gvk: JsonObject;
  readonly schema: string;
}

function operationsOf(endpoint: Endpoint, operations: readonly Operation[]): JsonObject {
  const item: JsonObject = {};
  for (const operation of operations) {
    if (!endpoint.verbs.includes(operation.verb)) continue;
    const answered = operation.action === "list" ? listName(endpoint.resource) : endpoint.schema;
    item[operation.method] = {
      ...(operation.parameters.length === 0 ? {} : { parameters: [...operation.parameters] }),
      ...bodyOf(operation, endpoint.resource, endpoint.schema),
      responses: { "200": { description: "OK", content: { "application/json": ref(answered) } } },
      "x-kubernetes-action": operation.action,
      "x-kubernetes-group-version-kind": endpoint.gvk,
    };
  }
  return item;
}

const gvkOf = ({ group, version, kind }: { group: string; version: string; kind: string }): JsonObject => ({
  group,
  version,
  kind,
});

export function pathsOf(resource: Resource): JsonObject {
  const { group, version, plural, scope, verbs } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = scope === "namespace" ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const outer: JsonValue[] = scope === "namespace" ? [inPath("namespace")] : [];
  const endpoint: Endpoint = { resource, verbs, gvk: gvkOf(resource), schema: schemaName(resource) };
  const paths: JsonObject = {
    [collection]: { ...operationsOf(endpoint, onCollection), parameters: [...outer, query("pretty")] },
    [`${collection}/{name}`]: {
      ...operationsOf(endpoint, onObject),
      parameters: [inPath("name"), ...outer, query("pretty")],
    },
  };
  if (scope === "namespace" && verbs.includes("list"))
    paths[`${root}/${plural}`] = operationsOf({ ...endpoint, verbs: ["list"] }, onCollection);
  for (const [name, subresource] of Object.entries(resource.subresources)) {
    const kind = subresource.kind ?? resource;
    paths[`${collection}/{name}/${name}`] = {
      ...operationsOf({ resource, verbs: subresource.verbs, gvk: gvkOf(kind), schema: schemaName(kind) }, [
        ...onObject,
        { verb: "create", method: "post", action: "post", parameters: writeParameters },
      ]),
      parameters: [inPath("name"), ...outer, query("pretty")],
    };
  }
  return paths;
}
