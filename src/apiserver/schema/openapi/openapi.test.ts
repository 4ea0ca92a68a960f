import assert from "node:assert/strict";
import { test } from "node:test";
import { row } from "../../../../test/strategy.ts";
import { bodyText, type HttpResponse } from "../../../base/http.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { ApiObject, Resource } from "../../contracts.ts";
import { createOpenApi } from "./openapi.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;
const aResource = (
  group: string,
  version: string,
  kind: string,
  plural: string,
  extra: Partial<Resource> = {},
): Resource =>
  row(plural, kind, { group, version, verbs, collection: `${group}/${plural}`, storedAs: version, ...extra });

const schema = {
  type: "object",
  description: "A test.",
  properties: { spec: { type: "object", description: "What is wanted." } },
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "tests.example.com" },
  spec: { group: "example.com", versions: [{ name: "v1", schema: { openAPIV3Schema: schema } }] },
} as unknown as ApiObject;
const resources = [
  aResource("", "v1", "Pod", "pods", { subresources: { status: { verbs: ["get", "patch", "update"] } } }),
  aResource("example.com", "v1", "Test", "tests", { definition }),
];

const propertiesOf = (of: JsonObject | undefined): JsonObject => (of?.properties ?? {}) as JsonObject;
const openApi = createOpenApi();
const get = (path: string, headers: Record<string, string> = {}): HttpResponse | undefined =>
  openApi.respond({ method: "GET", path, headers }, path.split("?")[0] ?? "", resources);
const documentAt = (path: string): JsonObject => {
  const response = get(path);
  assert.equal(response?.status, 200);
  return JSON.parse(bodyText(response?.body as string)) as JsonObject;
};

test("the OpenAPI index has a document per group and version, with its hash", () => {
  const { paths } = documentAt("/openapi/v3") as unknown as { paths: Record<string, { serverRelativeURL: string }> };
  assert.deepEqual(Object.keys(paths), ["api/v1", "apis/example.com/v1"]);
  const url = paths["api/v1"]?.serverRelativeURL ?? "";
  assert.match(url, /^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{128}$/);
  assert.equal(get(url)?.headers["cache-control"], "public, immutable");
});

test("a client with a matching ETag gets 304", () => {
  const etag = get("/openapi/v3/api/v1")?.headers.etag ?? "";
  assert.equal(get("/openapi/v3/api/v1", { "if-none-match": etag })?.status, 304);
});

test("built-in kinds have their types, defaults and merge keys", () => {
  const { components } = documentAt("/openapi/v3/api/v1") as unknown as {
    components: { schemas: Record<string, JsonObject> };
  };
  assert.deepEqual(propertiesOf(components.schemas["io.k8s.api.core.v1.PodSpec"]).containers, {
    type: "array",
    items: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.Container" }], default: {} },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-patch-merge-key": "name",
    "x-kubernetes-patch-strategy": "merge",
  });
});

test("every $ref of a document resolves", () => {
  for (const path of ["/openapi/v3/api/v1", "/openapi/v3/apis/example.com/v1"]) {
    const document = documentAt(path) as unknown as { components: { schemas: Record<string, unknown> } };
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name ?? "",
    );
    assert.deepEqual(
      names.filter((name) => !(name in document.components.schemas)),
      [],
    );
  }
});

test("custom kinds keep their descriptions and get the metadata of all objects", () => {
  const { components } = documentAt("/openapi/v3/apis/example.com/v1") as unknown as {
    components: { schemas: Record<string, JsonObject> };
  };
  const own = components.schemas["com.example.v1.Test"];
  assert.equal(own?.description, "A test.");
  assert.deepEqual(propertiesOf(own).spec, schema.properties.spec);
  assert.match(JSON.stringify(propertiesOf(own).metadata), /meta\.v1\.ObjectMeta/);
});

test("paths have the kind, field validation and the supported patch types for kubectl", () => {
  const patchOf = (
    path: string,
    of: string,
  ): { parameters: { name: string }[]; requestBody: { content: JsonObject } } & JsonObject => {
    const { paths } = documentAt(path) as unknown as { paths: Record<string, { patch: never }> };
    return paths[of]?.patch as never;
  };
  const pod = patchOf("/openapi/v3/api/v1", "/api/v1/namespaces/{namespace}/pods/{name}");
  assert.ok(pod.parameters.some(({ name }) => name === "fieldValidation"));
  assert.ok("application/strategic-merge-patch+json" in pod.requestBody.content);
  assert.deepEqual(pod["x-kubernetes-group-version-kind"], { group: "", version: "v1", kind: "Pod" });
  const custom = patchOf("/openapi/v3/apis/example.com/v1", "/apis/example.com/v1/namespaces/{namespace}/tests/{name}");
  assert.ok(!("application/strategic-merge-patch+json" in custom.requestBody.content));
});

test("OpenAPI v2 is served as JSON, and as a protobuf document without definitions", () => {
  const { definitions } = documentAt("/openapi/v2") as unknown as { definitions: JsonObject };
  assert.ok("io.k8s.api.core.v1.Pod" in definitions && "com.example.v1.Test" in definitions);
  const response = get("/openapi/v2", { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" });
  assert.equal(response?.headers["content-type"], "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  assert.deepEqual([...((response?.body ?? []) as Uint8Array)].slice(0, 5), [0x0a, 3, 0x32, 0x2e, 0x30]);
});

test("an unknown OpenAPI document is not found", () => {
  assert.equal(get("/openapi/v3/apis/none/v1"), undefined);
  assert.equal(get("/openapi"), undefined);
});
