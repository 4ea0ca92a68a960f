import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { clone, type JsonObject } from "../base/json.ts";
import type { ApiObject, Resource } from "./contracts.ts";
import type { ApiServer } from "./index.ts";
import type { Plugin } from "./parts.ts";
import { Refusal } from "./status.ts";

const mapsOf = (server: ApiServer): Resource => {
  const found = server.registry.resource("", "v1", "configmaps");
  assert.ok(found);
  return found;
};
const draft = (name: string, data: JsonObject = {}): ApiObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});
const counted = (object: ApiObject): ApiObject => {
  const copy = clone(object);
  copy.data = { count: String(Number((copy.data as { count?: string } | undefined)?.count ?? 0) + 1) };
  return copy;
};

/** Mutating admission waits a turn: the place where other writers come in between. */
const slowly: Plugin = {
  admission: (usual) => (context) => {
    const admission = usual(context);
    return {
      validate: admission.validate,
      mutate: async (review) => {
        await new Promise((next) => setImmediate(next));
        return admission.mutate(review);
      },
    };
  },
};

test("concurrent changes all take effect, one after the other", async () => {
  const server = startApiServer({ plugins: [slowly] });
  await server.registry.create(mapsOf(server), draft("a"));
  await Promise.all(Array.from({ length: 10 }, () => server.registry.modify(mapsOf(server), "default", "a", counted)));
  assert.deepEqual(server.registry.get("configmaps", "default", "a")?.data, { count: "10" });
});

test("of two writers with the same version, the second gets a conflict", async () => {
  const server = startApiServer({ plugins: [slowly] });
  const { body } = await server.ask("POST", "/api/v1/namespaces/default/configmaps", draft("a"));
  const put = (value: string) =>
    server.ask("PUT", "/api/v1/namespaces/default/configmaps/a", { ...body, data: { value } });
  const answers = await Promise.all([put("first"), put("second")]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 409],
  );
});

test("an empty change, or a change of a missing object, writes nothing", async () => {
  const server = startApiServer();
  await server.registry.create(mapsOf(server), draft("a"));
  const before = server.store.version();
  assert.notEqual(await server.registry.modify(mapsOf(server), "default", "a", () => undefined), undefined);
  assert.equal(await server.registry.modify(mapsOf(server), "default", "missing", counted), undefined);
  assert.equal(server.store.version(), before);
});

test("returned objects are never changed by later writes", async () => {
  const server = startApiServer();
  const first = await server.registry.create(mapsOf(server), draft("a", { k: "v" }));
  const text = JSON.stringify(first);
  await server.registry.modify(mapsOf(server), "default", "a", counted);
  assert.equal(JSON.stringify(first), text);
});

test("background writes are validated like requests", async () => {
  const server = startApiServer();
  await assert.rejects(server.registry.create(mapsOf(server), draft("Bad_Name")), (reason) => {
    assert.ok(reason instanceof Refusal);
    assert.equal(reason.status.code, 422);
    return true;
  });
  await assert.rejects(server.registry.delete(mapsOf(server), "default", "missing"), {
    message: 'configmaps "missing" not found',
  });
});

test("an event is one object in two API groups", async () => {
  const server = startApiServer();
  const core = {
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "p", namespace: "default" },
    reason: "Made",
    message: "done",
    type: "Normal",
    count: 3,
    source: { component: "me" },
  };
  await server.ask("POST", "/api/v1/namespaces/default/events", core);
  const { body } = await server.ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e");
  assert.equal(body.apiVersion, "events.k8s.io/v1");
  assert.deepEqual([body.note, body.deprecatedCount, body.deprecatedSource], ["done", 3, { component: "me" }]);
  assert.deepEqual((body.regarding as JsonObject).name, "p");
  const selected = await server.ask("GET", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp");
  assert.equal((selected.body.items as unknown[]).length, 1);
});

test("a duplicate owner reference is kept once, with a warning", async () => {
  const server = startApiServer();
  const owner = { apiVersion: "example.com/v1", kind: "Thing", name: "t", uid: "1" };
  const { headers, body } = await server.ask("POST", "/api/v1/namespaces/default/configmaps", {
    metadata: { name: "a", ownerReferences: [owner, owner] },
  });
  assert.equal(((body.metadata as JsonObject).ownerReferences as unknown[]).length, 1);
  assert.match(String(headers.warning), /duplicate UID\(s\) observed: 1"$/);
});

test("without a status subresource, status is a normal field and increments generation", async () => {
  const server = startApiServer();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  const things = "/apis/example.com/v1/namespaces/default/things";
  const made = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, status: { phase: "new" } };
  assert.deepEqual((await server.ask("POST", things, made)).body.status, { phase: "new" });
  const { body } = await server.ask("PATCH", `${things}/a`, { status: { phase: "old" } }, { type: "merge" });
  assert.deepEqual([body.status, (body.metadata as JsonObject).generation], [{ phase: "old" }, 2]);
  assert.equal((await server.ask("PATCH", `${things}/a/status`, {}, { type: "merge" })).status, 404);
});

test("errors of updated metadata are reported once for built-in kinds and twice for custom kinds, as in Kubernetes", async () => {
  const server = startApiServer();
  const { body } = await server.ask("POST", "/api/v1/namespaces/default/configmaps", draft("a"));
  const causes = async (metadata: JsonObject): Promise<number> => {
    const changed = { ...body, metadata: { ...(body.metadata as JsonObject), ...metadata } };
    const answer = await server.ask("PUT", "/api/v1/namespaces/default/configmaps/a", changed);
    return (answer.body.details as { causes: unknown[] }).causes.length;
  };
  assert.equal(await causes({ labels: { "-": "x" } }), 3);
  assert.equal(await causes({ deletionGracePeriodSeconds: 5 }), 2);
  assert.equal(await causes({ labels: { "-": "x" }, deletionGracePeriodSeconds: 5 }), 5);
});
