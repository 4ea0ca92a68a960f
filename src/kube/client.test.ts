import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, configMap, ok, ref, refusal, scripted } from "../../test/scripted-server.ts";
import type { Patch } from "../api/plan.ts";
import { isFault } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import { print } from "../base/json.ts";
import type { ClientOptions } from "./client.ts";

test("an object keeps all fields, including integers beyond 2^53 and unknown fields", async () => {
  const text =
    '{"apiVersion":"snapshot.storage.k8s.io/v1","kind":"VolumeSnapshotContent","metadata":{"name":"c","uid":"u","resourceVersion":"1"},"spec":{"odd":{"x":[1,null]}},"status":{"creationTime":1763200000123456789}}';
  const { client } = scripted([{ status: 200, headers: {}, body: text }]);
  const content = await client.get({ kind: "VolumeSnapshotContent", name: "c" });
  assert.equal(content.status?.creationTime, 1763200000123456789n);
  assert.equal(print(content), text);
});

test("managedFields are stripped from every response, unless requested", async () => {
  const answer = ok(configMap("a", { managedFields: [{ manager: "x" }] }));
  const metadataFrom = async (options: Partial<ClientOptions>) =>
    Object.keys((await scripted([answer], options).client.get(ref)).metadata);
  assert.equal((await metadataFrom({})).includes("managedFields"), false);
  assert.equal((await metadataFrom({ managedFields: "keep" })).includes("managedFields"), true);
});

test("a get with a uid does not return an object with another uid", async () => {
  const { client } = scripted([ok(configMap("a"))]);
  await assert.rejects(client.get({ ...ref, uid: "older" }), (reason) => isFault(reason, "NotFound"));
  assert.equal((await client.get({ ...ref, uid: "uid-a" })).metadata.name, "a");
});

test("requests that would address a whole collection are not sent", async () => {
  const { client, asked } = scripted([ok(configMap("a"))]);
  for (const bad of [{ ...ref, name: "" }, { ...ref, name: ".." }, { kind: "ConfigMap", name: "a" } as const])
    for (const work of [
      () => client.get(bad),
      () => client.delete(bad),
      () => client.patch(bad, { type: "merge", body: {} }),
    ])
      await assert.rejects(work(), (reason) => isFault(reason, "InvalidArgument"));
  assert.equal(asked.length, 0);
});

test("a list reads all pages, has the version of the first page, and sets the kind of its items", async () => {
  const page = (names: readonly string[], more: string, version: string): HttpResponse =>
    ok({
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: version, continue: more },
      items: names.map((name) => ({ metadata: { name, namespace: "team", managedFields: [] } })),
    });
  const { client, asked } = scripted([page(["a", "b"], "token/1", "10"), page(["c"], "", "11")]);
  const { objects, resourceVersion } = await client.list("ConfigMap", {
    namespace: "team",
    resourceVersion: "0",
    labelSelector: "a in (b,c)",
  });
  assert.deepEqual(
    objects.map((object) => [object.apiVersion, object.kind, object.metadata]),
    ["a", "b", "c"].map((name) => ["v1", "ConfigMap", { name, namespace: "team" }]),
  );
  assert.equal(resourceVersion, "10");
  const base = "/api/v1/namespaces/team/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=500";
  assert.deepEqual(
    asked.map(({ path }) => path),
    [`${base}&resourceVersion=0`, `${base}&continue=token%2F1`],
  );
});

test("an expired continue token restarts the list, and the third attempt is unpaged", async () => {
  const half = ok({ metadata: { resourceVersion: "1", continue: "t" }, items: [configMap("a")] });
  const gone = refusal(410, "Expired");
  const whole = ok({ metadata: { resourceVersion: "9" }, items: [configMap("a"), configMap("b")] });
  const { client, asked } = scripted([half, gone, half, gone, whole]);
  const { objects } = await client.list("ConfigMap");
  assert.deepEqual(
    objects.map(({ metadata }) => metadata.name),
    ["a", "b"],
  );
  assert.deepEqual(
    asked.map(({ path }) => path.split("?")[1]),
    ["limit=500", "limit=500&continue=t", "limit=500", "limit=500&continue=t", undefined],
  );
});

test("a list that always expires is a fault, not a loop", async () => {
  const { client, asked } = scripted([refusal(410, "Expired")]);
  await assert.rejects(client.list("ConfigMap"), (reason) => isFault(reason, "Expired"));
  assert.equal(asked.length, 3);
});

const patches: readonly { patch: Patch; uid?: string; type: string; query: string; body: unknown }[] = [
  {
    patch: { type: "merge", body: { data: { a: null } } },
    type: "merge-patch+json",
    query: "",
    body: { data: { a: null } },
  },
  {
    patch: { type: "merge", body: { metadata: { resourceVersion: "3" } } },
    uid: "u",
    type: "merge-patch+json",
    query: "",
    body: { metadata: { resourceVersion: "3", uid: "u" } },
  },
  {
    patch: { type: "json", body: [{ op: "remove", path: "/data" }] },
    uid: "u",
    type: "json-patch+json",
    query: "",
    body: [
      { op: "test", path: "/metadata/uid", value: "u" },
      { op: "remove", path: "/data" },
    ],
  },
  {
    patch: { type: "strategic", body: { data: {} } },
    type: "strategic-merge-patch+json",
    query: "",
    body: { data: {} },
  },
  {
    patch: { type: "apply", body: { data: {} }, fieldManager: "me", force: true },
    type: "apply-patch+yaml",
    query: "?fieldManager=me&force=true",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} },
  },
];
for (const { patch, uid, type, query, body } of patches)
  test(`a ${patch.type} patch ${uid === undefined ? "" : "of one incarnation "}travels as ${type}`, async () => {
    const { client, asked } = scripted([ok(configMap("a"))]);
    await client.patch({ ...ref, uid }, patch);
    assert.equal(asked[0]?.method, "PATCH");
    assert.equal(asked[0]?.path, `/api/v1/namespaces/team/configmaps/a${query}`);
    assert.equal(asked[0]?.headers["content-type"], `application/${type}`);
    assert.deepEqual(bodyOf(asked[0]), body);
  });

test("a patch of an old version is a Conflict, a patch that breaks a rule is Invalid", async () => {
  const uidCause = { details: { causes: [{ field: "metadata.uid", message: "field is immutable" }] } };
  const ruleCause = { details: { causes: [{ field: "data", message: "too long" }, { field: "metadata.uid" }] } };
  const json: Patch = { type: "json", body: [{ op: "test", path: "/a", value: 1 }] };
  const merge: Patch = { type: "merge", body: {} };
  for (const [patch, uid, more, code] of [
    [json, undefined, { details: {} }, "Conflict"],
    [json, undefined, ruleCause, "Invalid"],
    [merge, "u", uidCause, "Conflict"],
    [merge, "u", ruleCause, "Invalid"],
    [merge, undefined, { details: {} }, "Invalid"],
  ] as const) {
    const { client } = scripted([refusal(422, "Invalid", more)]);
    await assert.rejects(client.patch({ ...ref, uid }, patch), (reason) => isFault(reason) && reason.code === code);
  }
});

test("create, replace and status writes use their paths, BigInts as numbers and the served version", async () => {
  const snapshot = {
    apiVersion: "snapshot.storage.k8s.io/v1beta1",
    kind: "VolumeSnapshot",
    metadata: { name: "s", namespace: "team", uid: "u", resourceVersion: "5" },
  };
  const { client, asked } = scripted([ok(snapshot)], { versions: { "snapshot.storage.k8s.io": "v1beta1" } });
  const stored = await client.create(
    "VolumeSnapshot",
    { ...snapshot, apiVersion: "snapshot.storage.k8s.io/v1" },
    { dryRun: true },
  );
  await client.replace("VolumeSnapshot", { ...stored, status: { size: 2n ** 60n } } as typeof stored, {
    subresource: "status",
  });
  const base = "/apis/snapshot.storage.k8s.io/v1beta1/namespaces/team/volumesnapshots";
  assert.deepEqual(
    asked.map(({ method, path }) => `${method} ${path}`),
    [`POST ${base}?dryRun=All`, `PUT ${base}/s/status`],
  );
  assert.equal((bodyOf(asked[0]) as { apiVersion: string }).apiVersion, "snapshot.storage.k8s.io/v1beta1");
  assert.match(String(asked[1]?.body), /"size":1152921504606846976/);
});

test("a delete sends its preconditions and reports whether the object is gone or terminating", async () => {
  const held = configMap("a", { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] });
  const gone = configMap("a", { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 });
  const { client, asked } = scripted([ok(held), ok(gone), ok({ kind: "Status", status: "Success" })]);
  assert.equal(
    (await client.delete({ ...ref, uid: "u1" }, { resourceVersion: "4", propagationPolicy: "Background" }))?.metadata
      .name,
    "a",
  );
  assert.equal(await client.delete(ref), undefined);
  assert.equal(await client.delete(ref), undefined);
  assert.deepEqual(bodyOf(asked[0]), {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u1", resourceVersion: "4" },
    propagationPolicy: "Background",
  });
  assert.deepEqual(bodyOf(asked[1]), { apiVersion: "v1", kind: "DeleteOptions" });
});

test("a list by pages goes on with the same page after a broken connection, and with the rest after its token has expired", async () => {
  const page = (name: string, token: string): HttpResponse =>
    ok({
      kind: "ConfigMapList",
      metadata: { resourceVersion: "10", continue: token },
      items: [{ metadata: { name, namespace: "team" } }],
    });
  const expired = refusal(410, "Expired", { metadata: { continue: "rest" } });
  const { client, asked, world } = scripted([
    page("a", "1"),
    refusal(500, "InternalError"),
    page("b", "2"),
    expired,
    page("c", ""),
  ]);
  const names: string[] = [];
  const reading = (async () => {
    for await (const { objects } of client.pages("ConfigMap"))
      names.push(...objects.map(({ metadata }) => metadata.name));
  })();
  await world.run(reading);
  assert.deepEqual(names, ["a", "b", "c"]);
  assert.deepEqual(
    asked.map(({ path }) => new URL(path, "http://x").searchParams.get("continue")),
    [null, "1", "1", "2", "rest"],
  );
});

test("a list by pages whose token has expired without an offer to go on fails", async () => {
  const { client } = scripted([refusal(410, "Expired")]);
  await assert.rejects(client.pages("ConfigMap").next(), (reason) => isFault(reason, "Expired"));
});

test("a patch speaks the version that it names", async () => {
  const snapshot = { kind: "VolumeSnapshot", metadata: { name: "a", namespace: "team" } };
  const { client, asked } = scripted([ok(snapshot)]);
  const at = { kind: "VolumeSnapshot", namespace: "team", name: "a" } as const;
  const patched = await client.patch(at, { type: "merge", body: {} }, { version: "v1beta1" });
  assert.match(asked[0]?.path ?? "", /^\/apis\/snapshot\.storage\.k8s\.io\/v1beta1\//);
  assert.equal(patched.apiVersion, "snapshot.storage.k8s.io/v1beta1");
});
