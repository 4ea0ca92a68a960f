/** A patched object shares with the stored one what the patch leaves alone: nobody may notice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestServer } from "../../test/api-server.ts";
import { definitions, thingDefinition, things } from "../../test/things.ts";
import type { JsonObject } from "../base/json.ts";

const definition = (spec: JsonObject): JsonObject =>
  thingDefinition([
    {
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: { type: "object", ...spec },
            status: { type: "object", properties: { seen: { type: "integer" } } },
          },
        },
      },
    },
  ]);

const size = { type: "integer" };
const stored = { size: 5, extra: "x", inner: { deep: "y" } };
const inner = { type: "object", properties: { deep: { type: "string" } } };
const loose = { properties: { size, extra: { type: "string" }, inner } };

/** A server that holds a thing, and whose definition then says this of the thing's spec. */
async function redefined(spec: JsonObject): Promise<TestServer> {
  const server = startApiServer();
  await server.ask("POST", definitions, definition(loose));
  const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: stored };
  assert.equal((await server.ask("POST", things, thing)).status, 201);
  // Twice, so that whatever is remembered of the stored parts is remembered.
  for (const label of ["b", "c"]) assert.equal((await patch(server, { metadata: { labels: { label } } })).status, 200);
  const { spec: wanted } = definition(spec);
  assert.equal((await patch(server, { spec: wanted }, `${definitions}/things.example.com`)).status, 200);
  return server;
}

const patch = (server: TestServer, body: JsonObject, at = `${things}/a`) =>
  server.ask("PATCH", at, body, { type: "merge" });
const another = { metadata: { labels: { label: "d" } } };

test("a patch of another field drops fields that the CRD no longer has", async () => {
  const server = await redefined({ properties: { size, inner: { type: "object" } } });
  const before = server.registry.get("example.com/things", "default", "a");
  const { status, body } = await patch(server, another);
  assert.deepEqual([status, body.spec], [200, { size: 5, inner: {} }]);
  assert.deepEqual(before?.spec, stored);
});

test("a patch of another field applies new defaults of the CRD", async () => {
  const deep = { ...inner, properties: { ...inner.properties, more: { type: "integer", default: 7 } } };
  const server = await redefined({ properties: { ...loose.properties, inner: deep } });
  const before = server.registry.get("example.com/things", "default", "a");
  const { status, body } = await patch(server, another);
  assert.deepEqual([status, body.spec], [200, { ...stored, inner: { deep: "y", more: 7 } }]);
  assert.deepEqual(before?.spec, stored);
});

test("a patch of another field tolerates values that a new CRD schema forbids, with a warning for a broken rule", async () => {
  const rules = [{ rule: "self.size <= 3", message: "too big" }];
  const server = await redefined({
    properties: { ...loose.properties, size: { ...size, maximum: 4 } },
    "x-kubernetes-validations": rules,
  });
  for (const label of ["d", "e", "f"]) {
    const { status, headers } = await patch(server, { metadata: { labels: { label } } });
    assert.deepEqual([status, headers.warning], [200, '299 - "spec: Invalid value: too big"']);
  }
  const { status, body } = await patch(server, { spec: { size: 6 } });
  assert.equal(status, 422);
  assert.match(String(body.message), /spec.size: Invalid value: 6: .*less than or equal to 4.*/);
});

test("a rule that the stored object cannot satisfy rejects every patch, not only the first", async () => {
  const server = await redefined({ ...loose, "x-kubernetes-validations": [{ rule: "self.size > oldSelf.size" }] });
  for (const label of ["d", "e"]) assert.equal((await patch(server, { metadata: { labels: { label } } })).status, 422);
  assert.equal((await patch(server, { spec: { size: 6 } })).status, 200);
});

test("a patch of the status does not change the spec, and the status is validated", async () => {
  const server = await redefined(loose);
  const at = `${things}/a/status`;
  const { status, body } = await patch(server, { spec: { size: 9 }, status: { seen: 1 } }, at);
  assert.deepEqual([status, body.spec, body.status], [200, stored, { seen: 1 }]);
  assert.equal((await patch(server, { status: { seen: "twice" } }, at)).status, 422);
  assert.equal((await patch(server, { metadata: { labels: { label: "d" } } })).status, 200);
});
