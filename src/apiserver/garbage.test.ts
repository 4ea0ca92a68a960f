import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestServer } from "../../test/api-server.ts";
import { isObject, type JsonObject } from "../base/json.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const metadataOf = (object: JsonObject): JsonObject => (isObject(object.metadata) ? object.metadata : {});

/** A server at work, an owner, and what it owns. */
async function withFamily(dependents: readonly { name: string; blocks?: boolean; finalizers?: string[] }[]): Promise<{
  server: TestServer;
  settle(): Promise<void>;
  stop(): Promise<void>;
  names(): Promise<readonly unknown[]>;
}> {
  const server = startApiServer();
  const over = new AbortController();
  const running = server.run(over.signal);
  const { body } = await server.ask("POST", maps, { metadata: { name: "owner" } });
  for (const { name, blocks = false, finalizers = [] } of dependents)
    await server.ask("POST", maps, {
      metadata: {
        name,
        finalizers,
        ownerReferences: [
          { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadataOf(body).uid, blockOwnerDeletion: blocks },
        ],
      },
    });
  return {
    server,
    settle: () => server.world.advance(1_000),
    stop: async () => {
      over.abort();
      await running;
    },
    names: async () => {
      const list = (await server.ask("GET", maps)).body.items as JsonObject[];
      return list.map((item) => metadataOf(item).name);
    },
  };
}

test("background deletion removes dependents after their owner", async () => {
  const { server, settle, stop, names } = await withFamily([{ name: "child" }]);
  await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Background" });
  await settle();
  assert.deepEqual(await names(), []);
  await stop();
});

test("orphaned dependents stay without their owner reference", async () => {
  const { server, settle, stop, names } = await withFamily([{ name: "child" }]);
  const { body } = await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Orphan" });
  assert.deepEqual(metadataOf(body).finalizers, ["orphan"]);
  await settle();
  assert.deepEqual(await names(), ["child"]);
  assert.equal(metadataOf((await server.ask("GET", `${maps}/child`)).body).ownerReferences, undefined);
  await stop();
});

test("foreground deletion waits for blocking dependents", async () => {
  const { server, settle, stop, names } = await withFamily([
    { name: "child", blocks: true, finalizers: ["example.com/hold"] },
  ]);
  await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Foreground" });
  await settle();
  assert.deepEqual(await names(), ["child", "owner"]);
  await server.ask("PATCH", `${maps}/child`, { metadata: { finalizers: null } }, { type: "merge" });
  await settle();
  assert.deepEqual(await names(), []);
  await stop();
});

test("an object whose owner never existed is collected", async () => {
  const { server, settle, stop, names } = await withFamily([]);
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "another incarnation" };
  await server.ask("POST", maps, { metadata: { name: "stray", ownerReferences: [owner] } });
  const unknown = { ...owner, apiVersion: "example.com/v1", kind: "Unknown" };
  await server.ask("POST", maps, { metadata: { name: "kept", ownerReferences: [unknown] } });
  await settle();
  assert.deepEqual(await names(), ["kept", "owner"]);
  await stop();
});

test("in foreground deletion a dependent with another owner loses only the deleted owner's reference", async () => {
  const { server, settle, stop, names } = await withFamily([{ name: "child", blocks: true }]);
  const other = metadataOf((await server.ask("POST", maps, { metadata: { name: "other" } })).body);
  const [first] = metadataOf((await server.ask("GET", `${maps}/child`)).body).ownerReferences as JsonObject[];
  const second = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: other.uid };
  await server.ask("PATCH", `${maps}/child`, { metadata: { ownerReferences: [first, second] } }, { type: "merge" });
  await server.ask("DELETE", `${maps}/owner`, { propagationPolicy: "Foreground" });
  await settle();
  assert.deepEqual(await names(), ["child", "other"]);
  assert.deepEqual(metadataOf((await server.ask("GET", `${maps}/child`)).body).ownerReferences, [second]);
  await server.ask("DELETE", `${maps}/other`, { propagationPolicy: "Foreground" });
  await settle();
  assert.deepEqual(await names(), []);
  await stop();
});

test("a cluster-scoped object is not collected for a namespaced owner", async () => {
  const { server, settle, stop } = await withFamily([]);
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "1" };
  await server.ask("POST", roles, { metadata: { name: "kept", ownerReferences: [owner] }, rules: [] });
  await settle();
  assert.equal((await server.ask("GET", `${roles}/kept`)).status, 200);
  await stop();
});
