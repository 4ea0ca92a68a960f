import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { snapshotCrds } from "../api/crds/index.ts";
import { isObject, type JsonObject } from "../base/json.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const snapshots = "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots";
const definitions = snapshotCrds(3);
const withSnapshots = () => startApiServer({ definitions });

const map = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name }, ...more });
const snapshot = (name: string, spec: JsonObject = { source: { persistentVolumeClaimName: "p" } }): JsonObject => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name },
  spec,
});
const metadataOf = (object: JsonObject): JsonObject => (isObject(object.metadata) ? object.metadata : {});

test("a created object gets a uid, creationTimestamp and resourceVersion, and a get returns the same object", async () => {
  const server = startApiServer();
  const { status, body } = await server.ask("POST", maps, map("a", { data: { k: "v" } }));
  assert.equal(status, 201);
  const metadata = metadataOf(body);
  assert.match(String(metadata.uid), /^[0-9a-f-]{36}$/);
  assert.match(String(metadata.creationTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(String(metadata.resourceVersion), /^\d+$/);
  assert.deepEqual((await server.ask("GET", `${maps}/a`)).body, body);
});

test("a default of the status is in every answer about an object whose status nobody has written", async () => {
  const server = withSnapshots();
  const ready = { readyToUse: false };
  const sent = { ...snapshot("a"), status: { readyToUse: true } };
  assert.deepEqual((await server.ask("POST", `${snapshots}?dryRun=All`, sent)).body.status, ready);
  assert.deepEqual((await server.ask("POST", snapshots, sent)).body.status, ready);
  assert.deepEqual((await server.ask("GET", `${snapshots}/a`)).body.status, ready);
  const { items } = (await server.ask("GET", snapshots)).body as { items: JsonObject[] };
  assert.deepEqual(
    items.map(({ status }) => status),
    [ready],
  );
  const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  const { rows } = (await server.ask("GET", snapshots, undefined, { headers })).body as {
    rows: { cells: unknown[] }[];
  };
  assert.deepEqual(rows[0]?.cells.slice(0, 2), ["a", false]);
  const labelled = await server.ask("PATCH", `${snapshots}/a`, { metadata: { labels: { b: "c" } } }, { type: "merge" });
  assert.deepEqual(labelled.body.status, ready);
});

test("the same seed gives the same server state, byte for byte", async () => {
  const run = async () => {
    const server = startApiServer();
    await server.ask("POST", maps, { metadata: { generateName: "a-" } });
    return (await server.ask("GET", maps)).text;
  };
  assert.equal(await run(), await run());
});

test("generateName creates a name", async () => {
  const { body } = await startApiServer().ask("POST", maps, { metadata: { generateName: "made-" } });
  assert.match(String(metadataOf(body).name), /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

const refusals: readonly (readonly [
  claim: string,
  method: string,
  path: string,
  body: unknown,
  code: number,
  message: RegExp | string,
])[] = [
  ["an absent object", "GET", `${maps}/nope`, undefined, 404, 'configmaps "nope" not found'],
  [
    "an absent custom object",
    "GET",
    `${snapshots}/x`,
    undefined,
    404,
    'volumesnapshots.snapshot.storage.k8s.io "x" not found',
  ],
  ["a taken name", "POST", maps, map("taken"), 409, 'configmaps "taken" already exists'],
  [
    "a version that is no longer the newest",
    "PUT",
    `${maps}/taken`,
    { metadata: { name: "taken", resourceVersion: "1" } },
    409,
    'Operation cannot be fulfilled on configmaps "taken": the object has been modified; please apply your changes to the latest version and try again',
  ],
  [
    "a name that is not the path's",
    "PUT",
    `${maps}/taken`,
    map("other"),
    400,
    "the name of the object (other) does not match the name on the URL (taken)",
  ],
  [
    "another namespace than the path's",
    "POST",
    maps,
    { metadata: { name: "n", namespace: "other" } },
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "no name",
    "POST",
    maps,
    {},
    422,
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  ],
  [
    "broken JSON",
    "POST",
    maps,
    "{",
    400,
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)",
  ],
  [
    "no body",
    "POST",
    maps,
    "",
    400,
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  ],
  [
    "another kind",
    "POST",
    maps,
    { kind: "Pod", apiVersion: "v1" },
    400,
    /^Pod in version "v1" cannot be handled as a ConfigMap: /,
  ],
  [
    "a version on a new object",
    "POST",
    maps,
    { metadata: { name: "v", resourceVersion: "5" } },
    500,
    "resourceVersion should not be set on objects to be created",
  ],
  [
    "a resource nobody serves",
    "GET",
    "/api/v1/namespaces/default/foos",
    undefined,
    404,
    "the server could not find the requested resource",
  ],
  [
    "a method the path does not know",
    "POST",
    `${maps}/x`,
    {},
    405,
    "the server does not allow this method on the requested resource",
  ],
  [
    "an update of a custom object without a version",
    "PUT",
    `${snapshots}/there`,
    snapshot("there"),
    422,
    'volumesnapshots.snapshot.storage.k8s.io "there" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  ],
  [
    "a broken rule",
    "POST",
    snapshots,
    snapshot("r", {}),
    422,
    /^VolumeSnapshot\.snapshot\.storage\.k8s\.io "r" is invalid: \[spec\.source: Required value, /,
  ],
  [
    "a limit that is no number",
    "GET",
    `${maps}?limit=x`,
    undefined,
    400,
    'strconv.ParseInt: parsing "x": invalid syntax',
  ],
  [
    "a version from the future",
    "GET",
    `${maps}?resourceVersion=99999`,
    undefined,
    504,
    /^Timeout: Too large resource version: 99999, current: \d+$/,
  ],
  [
    "a field nobody can select by",
    "GET",
    `${maps}?fieldSelector=a.b%3Dc`,
    undefined,
    400,
    '"a.b" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    "a dry run of an unknown sort",
    "POST",
    `${maps}?dryRun=Some`,
    map("d"),
    422,
    'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  ],
];
for (const [claim, method, path, body, code, message] of refusals)
  test(`${claim} is rejected with ${code}`, async () => {
    const server = withSnapshots();
    await server.ask("POST", maps, map("taken"));
    await server.ask("POST", snapshots, snapshot("there"));
    const answer = await server.ask(method, path, body);
    assert.equal(answer.status, code, answer.text);
    if (typeof message === "string") assert.equal(answer.body.message, message);
    else assert.match(String(answer.body.message), message);
    assert.equal(answer.body.kind, "Status");
  });

test("an unknown path is a plain 404", async () => {
  const { status, text } = await startApiServer().ask("GET", "/nope");
  assert.deepEqual([status, text], [404, "404 page not found\n"]);
});

test("a dry run returns the result and stores nothing", async () => {
  const server = startApiServer();
  const { status, body } = await server.ask("POST", `${maps}?dryRun=All`, map("a"));
  assert.equal(status, 201);
  assert.equal(metadataOf(body).resourceVersion, undefined);
  assert.equal((await server.ask("GET", `${maps}/a`)).status, 404);
});

test("generation counts changes of spec, not of labels and status", async () => {
  const server = withSnapshots();
  await server.ask("POST", snapshots, { ...snapshot("s"), status: { readyToUse: true } });
  const generation = async (body: JsonObject, path = `${snapshots}/s`) =>
    metadataOf((await server.ask("PATCH", path, body, { type: "merge" })).body).generation;
  assert.equal(await generation({ metadata: { labels: { a: "b" } } }), 1);
  assert.equal(await generation({ status: { readyToUse: true } }, `${snapshots}/s/status`), 1);
  assert.equal(await generation({ spec: { volumeSnapshotClassName: "c" } }), 2);
});

test("the status subresource changes only status, and other writes never change it", async () => {
  const server = withSnapshots();
  const created = await server.ask("POST", snapshots, { ...snapshot("s"), status: { readyToUse: true } });
  assert.deepEqual(created.body.status, { readyToUse: false });
  const change = {
    metadata: { labels: { a: "b" } },
    spec: { volumeSnapshotClassName: "c" },
    status: { readyToUse: true },
  };
  const { body } = await server.ask("PATCH", `${snapshots}/s/status`, change, { type: "merge" });
  assert.deepEqual(body.status, { readyToUse: true });
  assert.deepEqual(body.spec, { source: { persistentVolumeClaimName: "p" } });
  assert.equal(metadataOf(body).labels, undefined);
  const put = await server.ask("PATCH", `${snapshots}/s`, { status: { readyToUse: false } }, { type: "merge" });
  assert.deepEqual(put.body.status, { readyToUse: true });
});

test("a write that changes nothing stores nothing", async () => {
  const server = startApiServer();
  const { body } = await server.ask("POST", maps, map("a", { data: { k: "v" } }));
  const before = server.store.version();
  const again = await server.ask("PATCH", `${maps}/a`, { data: { k: "v" } }, { type: "merge" });
  assert.equal(metadataOf(again.body).resourceVersion, metadataOf(body).resourceVersion);
  assert.equal(server.store.version(), before);
});

test("a deleted object with a finalizer stays with a deletionTimestamp until the finalizer is removed", async () => {
  const server = startApiServer();
  await server.ask("POST", maps, { metadata: { name: "a", finalizers: ["example.com/hold"] } });
  const deleted = await server.ask("DELETE", `${maps}/a`);
  assert.equal(deleted.status, 200);
  assert.notEqual(metadataOf(deleted.body).deletionTimestamp, undefined);
  assert.equal(metadataOf(deleted.body).deletionGracePeriodSeconds, 0);
  const version = server.store.version();
  await server.ask("DELETE", `${maps}/a`);
  assert.equal(server.store.version(), version, "deleting again changes nothing");
  const freed = await server.ask("PATCH", `${maps}/a`, [{ op: "remove", path: "/metadata/finalizers/0" }], {
    type: "json",
  });
  assert.equal(freed.status, 200);
  assert.equal((await server.ask("GET", `${maps}/a`)).status, 404);
});

test("a delete with another uid or version as precondition is rejected", async () => {
  const server = startApiServer();
  await server.ask("POST", maps, map("a"));
  const wrongUid = await server.ask("DELETE", `${maps}/a`, { preconditions: { uid: "other" } });
  assert.equal(wrongUid.status, 409);
  assert.match(
    String(wrongUid.body.message),
    /^Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition \(other\) does not match/,
  );
  assert.equal((await server.ask("DELETE", `${maps}/a`, { preconditions: { resourceVersion: "1" } })).status, 409);
  assert.equal((await server.ask("DELETE", `${maps}/a`)).body.status, "Success");
});

test("a PUT with another uid is rejected", async () => {
  const server = startApiServer();
  await server.ask("POST", maps, map("a"));
  const { status, body } = await server.ask("PUT", `${maps}/a`, { metadata: { name: "a", uid: "other" } });
  assert.equal(status, 409);
  assert.match(
    String(body.message),
    /Precondition failed: UID in precondition: other, UID in object meta: [0-9a-f-]{36}$/,
  );
});

test("deleting a collection deletes what the selector selects", async () => {
  const server = startApiServer();
  for (const name of ["a", "b", "c"])
    await server.ask("POST", maps, { metadata: { name, labels: { keep: String(name === "b") } } });
  const { body } = await server.ask("DELETE", `${maps}?labelSelector=keep%3Dfalse`);
  assert.equal(body.kind, "ConfigMapList");
  const left = (await server.ask("GET", maps)).body.items as JsonObject[];
  assert.deepEqual(
    left.map((item) => metadataOf(item).name),
    ["b"],
  );
});

test("unknown fields are dropped with a warning, or rejected with fieldValidation=Strict", async () => {
  const server = withSnapshots();
  const odd = snapshot("s", { source: { persistentVolumeClaimName: "p" }, colour: "red" });
  const warned = await server.ask("POST", snapshots, odd);
  assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.colour\\""');
  assert.deepEqual(warned.body.spec, { source: { persistentVolumeClaimName: "p" } });
  const strict = await server.ask("POST", `${snapshots}?fieldValidation=Strict`, odd);
  assert.equal(
    strict.body.message,
    'VolumeSnapshot in version "v1" cannot be handled as a VolumeSnapshot: strict decoding error: unknown field "spec.colour"',
  );
  assert.equal(
    (await server.ask("POST", `${snapshots}?fieldValidation=Ignore`, snapshot("t", { ...(odd.spec as JsonObject) })))
      .headers.warning,
    undefined,
  );
});

test("a duplicate field is rejected with fieldValidation=Strict", async () => {
  const text = '{"metadata":{"name":"a","name":"b"}}';
  const { body } = await startApiServer().ask("POST", `${maps}?fieldValidation=Strict`, text);
  assert.equal(
    body.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name"',
  );
});
