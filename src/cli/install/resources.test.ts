import assert from "node:assert/strict";
import { test } from "node:test";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { PathReader, PathWriter } from "../../kube/api.ts";
import { createResources } from "./resources.ts";

const discovery: Readonly<Record<string, JsonObject>> = {
  "/api/v1": {
    resources: [
      { kind: "Secret", name: "secrets", namespaced: true },
      { kind: "Namespace", name: "namespaces", namespaced: false },
      { kind: "Namespace", name: "namespaces/status", namespaced: false },
    ],
  },
  "/apis/apps/v1": { resources: [{ kind: "Deployment", name: "deployments", namespaced: true }] },
};

/** Answers with what is stored at a path, and notes each request. */
function served(stored: Readonly<Record<string, JsonValue | Fault>> = {}) {
  const asked: (readonly unknown[])[] = [];
  const answer = async (path: string): Promise<JsonValue> => {
    const found = { ...discovery, ...stored }[path] ?? new Fault("NotFound", path);
    if (found instanceof Fault) throw found;
    return found;
  };
  const api: PathReader & PathWriter = {
    getPath: (path) => {
      asked.push(["GET", path]);
      return answer(path);
    },
    applyPath: async (path, body, { fieldManager, force, dryRun }) => {
      asked.push(["APPLY", path, body.metadata, fieldManager, force, dryRun]);
      return body;
    },
    replacePath: async (path, body) => {
      asked.push(["PUT", path, body]);
      return body;
    },
    deletePath: async (path, { uid, isForeground } = {}) => {
      asked.push(["DELETE", path, uid, isForeground]);
      await answer(path);
    },
  };
  return { asked, resources: createResources(api, new AbortController().signal) };
}

const at = (apiVersion: string, kind: string, name: string, namespace?: string): ManifestObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});

test("objects are read by their path, and kinds are looked up once", async () => {
  const { asked, resources } = served({
    "/api/v1/namespaces/one/secrets/a%2Fb": { kind: "Secret" },
    "/apis/apps/v1/namespaces/default/deployments/any": { kind: "Deployment" },
    "/api/v1/namespaces/one": { kind: "Namespace" },
  });
  assert.deepEqual(await resources.read(at("v1", "Secret", "a/b", "one")), { kind: "Secret" });
  assert.deepEqual(await resources.read(at("apps/v1", "Deployment", "any")), { kind: "Deployment" });
  assert.deepEqual(await resources.read(at("v1", "Namespace", "one")), { kind: "Namespace" });
  assert.equal(await resources.read(at("v1", "Secret", "other", "one")), undefined);
  assert.equal(asked.filter(([, path]) => path === "/api/v1").length, 1);
  resources.forget();
  await resources.read(at("v1", "Namespace", "one"));
  assert.equal(asked.filter(([, path]) => path === "/api/v1").length, 2);
});

test("a kind or a group that is not served is no error", async () => {
  const { resources } = served();
  for (const object of [at("v1", "Widget", "any"), at("example.com/v1", "Widget", "any")]) {
    assert.equal(await resources.serves(object), false);
    assert.equal(await resources.read(object), undefined);
    assert.equal(await resources.remove(object as unknown as JsonObject), false);
    assert.deepEqual(await resources.list(object.apiVersion, object.kind), []);
  }
  assert.equal(await resources.serves(at("v1", "Secret", "any")), true);
});

test("other failures are told", async () => {
  const { resources } = served({
    "/api/v1/namespaces/one": new Fault("PermissionDenied", "no"),
    "/apis/example.com/v1": new Fault("Unavailable", "down"),
  });
  await assert.rejects(resources.read(at("v1", "Namespace", "one")), /no/);
  await assert.rejects(resources.remove(at("v1", "Namespace", "one") as unknown as JsonObject), /no/);
  await assert.rejects(resources.serves(at("example.com/v1", "Widget", "any")), /down/);
});

test("apply names the version that was read, and takes fields only of what was there", async () => {
  const { asked, resources } = served();
  const object = at("v1", "Namespace", "one");
  await resources.apply(object);
  await resources.apply(object, { dryRun: true });
  await resources.apply(object, { instead: { metadata: { resourceVersion: "7" } } });
  await resources.apply(object, { instead: "nothing" });
  const path = "/api/v1/namespaces/one";
  assert.deepEqual(
    asked.filter(([method]) => method === "APPLY"),
    [
      ["APPLY", path, { name: "one" }, "snapkeep-install", true, false],
      ["APPLY", path, { name: "one" }, "snapkeep-install", true, true],
      ["APPLY", path, { name: "one", resourceVersion: "7" }, "snapkeep-install", true, false],
      ["APPLY", path, { name: "one" }, "snapkeep-install", false, false],
    ],
  );
});

test("a deletion names the incarnation, and tells whether there was one", async () => {
  const { asked, resources } = served({ "/api/v1/namespaces/one": {} });
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: "one", uid: "u" } };
  assert.equal(await resources.remove(object, { isForeground: true }), true);
  assert.deepEqual(asked.at(-1), ["DELETE", "/api/v1/namespaces/one", "u", true]);
  assert.equal(await resources.remove({ ...object, metadata: { name: "two" } }), false);
});

test("a replaced object is sent whole", async () => {
  const { asked, resources } = served();
  const object = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "one", name: "any" }, data: {} };
  await resources.replace(object);
  assert.deepEqual(asked.at(-1), ["PUT", "/api/v1/namespaces/one/secrets/any", object]);
});

test("lists are of one namespace or all", async () => {
  const { resources } = served({
    "/api/v1/secrets?limit=500": { items: [{ metadata: { name: "a" } }, "no object"] },
    "/api/v1/namespaces/one/secrets?fieldSelector=type%3Dx&limit=500": { items: [{ metadata: { name: "b" } }] },
  });
  assert.deepEqual(await resources.list("v1", "Secret"), [{ metadata: { name: "a" } }]);
  assert.deepEqual(await resources.list("v1", "Secret", { namespace: "one", fieldSelector: "type=x" }), [
    { metadata: { name: "b" } },
  ]);
});
