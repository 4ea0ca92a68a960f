import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestServer } from "../../test/api-server.ts";
import { definitions, thingDefinition, things } from "../../test/things.ts";
import { isObject, type JsonObject } from "../base/json.ts";

const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
const thing = (
  versions: readonly JsonObject[] = [{ name: "v1", served: true, storage: true, schema }],
  names: JsonObject = {},
): JsonObject => thingDefinition(versions, names);
const metadataOf = (object: JsonObject): JsonObject => (isObject(object.metadata) ? object.metadata : {});
const conditions = (object: JsonObject): readonly string[] => {
  const status = isObject(object.status) ? object.status : {};
  return (Array.isArray(status.conditions) ? status.conditions : []).map((one) =>
    isObject(one) ? `${String(one.type)}=${String(one.status)}` : "",
  );
};

async function served(server: TestServer): Promise<readonly unknown[]> {
  const { body } = await server.ask("GET", "/apis/example.com/v1");
  return (Array.isArray(body.resources) ? body.resources : []).map((one) => (isObject(one) ? one.name : undefined));
}

test("a CRD is served from the moment it is created", async () => {
  const server = startApiServer();
  assert.equal((await server.ask("GET", things)).status, 404);
  const { status, body } = await server.ask("POST", definitions, thing());
  assert.equal(status, 201, String(body.message));
  assert.deepEqual(conditions((await server.ask("GET", `${definitions}/things.example.com`)).body), [
    "NamesAccepted=True",
    "Established=True",
  ]);
  assert.deepEqual(await served(server), ["things"]);
  const created = await server.ask("POST", things, {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "a" },
  });
  assert.equal(created.status, 201);
});

test("watches of a custom kind end only when the CRD's spec changes or the CRD is deleted", async () => {
  const server = startApiServer();
  const at = `${definitions}/things.example.com`;
  await server.ask("POST", definitions, thing());
  await server.open("/api/v1/configmaps?watch=true");
  const open = () => server.open("/apis/example.com/v1/things?watch=true");
  await open();
  await server.ask("PATCH", at, { metadata: { labels: { a: "b" } } }, { type: "merge" });
  assert.equal(server.watches(), 2);
  await server.ask("PATCH", at, { spec: { names: { shortNames: ["th"] } } }, { type: "merge" });
  assert.equal(server.watches(), 1);
  await open();
  const stop = new AbortController();
  void server.run(stop.signal);
  await server.ask("DELETE", at);
  await server.world.advance(10_000);
  assert.equal((await server.ask("GET", at)).status, 404);
  assert.equal(server.watches(), 1, "only that of another collection is left");
  stop.abort();
});

test("several versions show the same object with their own apiVersion", async () => {
  const server = startApiServer();
  const versions = [
    { name: "v1", served: true, storage: true, schema },
    { name: "v1beta1", served: true, storage: false, schema, deprecated: true },
  ];
  await server.ask("POST", definitions, thing(versions));
  await server.ask("POST", things, {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "a" },
    spec: { x: 1 },
  });
  const old = await server.ask("GET", `${things.replace("v1", "v1beta1")}/a`);
  assert.equal(old.body.apiVersion, "example.com/v1beta1");
  assert.deepEqual(old.body.spec, { x: 1 });
  assert.equal(old.headers.warning, '299 - "example.com/v1beta1 Thing is deprecated"');
  const written = await server.ask(
    "PATCH",
    `${things.replace("v1", "v1beta1")}/a`,
    { spec: { x: 2 } },
    { type: "merge" },
  );
  assert.equal(written.body.apiVersion, "example.com/v1beta1");
  assert.deepEqual((await server.ask("GET", `${things}/a`)).body.spec, { x: 2 });
  const { body } = await server.ask("GET", "/apis/example.com");
  assert.deepEqual(body.preferredVersion, { groupVersion: "example.com/v1", version: "v1" });
});

test("deleting a CRD deletes its objects and waits for their finalizers", async () => {
  const server = startApiServer();
  const over = new AbortController();
  const running = server.run(over.signal);
  await server.ask("POST", definitions, thing());
  await server.ask("POST", things, {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "a", finalizers: ["example.com/hold"] },
  });
  const deleted = await server.ask("DELETE", `${definitions}/things.example.com`);
  assert.deepEqual(metadataOf(deleted.body).finalizers, ["customresourcecleanup.apiextensions.k8s.io"]);
  assert.ok(conditions(deleted.body).includes("Terminating=True"));
  await server.world.advance(1_000);
  assert.equal((await server.ask("GET", `${things}/a`)).status, 200);
  await server.ask("PATCH", `${things}/a`, { metadata: { finalizers: null } }, { type: "merge" });
  await server.world.advance(10_000);
  assert.equal((await server.ask("GET", `${definitions}/things.example.com`)).status, 404);
  assert.equal((await server.ask("GET", things)).status, 404);
  over.abort();
  await running;
});

test("a CRD with a name of another CRD of the group is not accepted and not served", async () => {
  const server = startApiServer();
  await server.ask("POST", definitions, thing());
  const other = thing(undefined, { plural: "others" });
  await server.ask("POST", definitions, { ...other, metadata: { name: "others.example.com" } });
  const { body } = await server.ask("GET", `${definitions}/others.example.com`);
  assert.deepEqual(conditions(body), ["NamesAccepted=False", "Established=False"]);
  assert.deepEqual(await served(server), ["things"]);
});

test("a CRD may define a scale subresource, which is not served", async () => {
  const server = startApiServer();
  const subresources = { status: {}, scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.count" } };
  await server.ask("POST", definitions, thing([{ name: "v1", served: true, storage: true, schema, subresources }]));
  assert.equal((await server.ask("GET", `${things}/a/scale`)).status, 501);
});
