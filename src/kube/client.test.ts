import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import type { Patch } from "../api/plan.ts";
import { isFault } from "../base/fault.ts";
import type { Handler, HttpRequest, HttpResponse } from "../base/http.ts";
import { parse, print } from "../base/json.ts";
import type { WatchEvent } from "./api.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { chooseVersions, servedVersions } from "./discovery.ts";

const ok = (value: unknown, status = 200): HttpResponse => ({ status, headers: {}, body: print(value) });
const refusal = (
  code: number,
  reason: string,
  more: object = {},
  headers: Record<string, string> = {},
): HttpResponse => ({
  status: code,
  headers,
  body: print({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason,
    code,
    message: `it is ${reason}`,
    ...more,
  }),
});
const configMap = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion: "7", ...more },
});
const ref = { kind: "ConfigMap", namespace: "team", name: "a" } as const;

/** A client whose requests are answered in turn; the last answer repeats. */
function scripted(
  answers: readonly (HttpResponse | (() => Promise<HttpResponse>))[],
  options: Partial<ClientOptions> = {},
) {
  const asked: HttpRequest[] = [];
  const handler: Handler = async (request) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(request);
    assert.ok(answer !== undefined);
    return typeof answer === "function" ? answer() : answer;
  };
  const world = createVirtualWorld();
  return { client: createClient({ handler, world, ...options }), asked, world };
}

const bodyOf = (request: HttpRequest | undefined): unknown => parse(String(request?.body));

test("an object comes back field for field, integers beyond 2^53 and unknown fields included", async () => {
  const text =
    '{"apiVersion":"snapshot.storage.k8s.io/v1","kind":"VolumeSnapshotContent","metadata":{"name":"c","uid":"u","resourceVersion":"1"},"spec":{"odd":{"x":[1,null]}},"status":{"creationTime":1763200000123456789}}';
  const { client } = scripted([{ status: 200, headers: {}, body: text }]);
  const content = await client.get({ kind: "VolumeSnapshotContent", name: "c" });
  assert.equal(content.status?.creationTime, 1763200000123456789n);
  assert.equal(print(content), text);
});

test("managedFields are stripped from every answer, and kept when asked to", async () => {
  const answer = ok(configMap("a", { managedFields: [{ manager: "x" }] }));
  const metadataFrom = async (options: Partial<ClientOptions>) =>
    Object.keys((await scripted([answer], options).client.get(ref)).metadata);
  assert.equal((await metadataFrom({})).includes("managedFields"), false);
  assert.equal((await metadataFrom({ managedFields: "keep" })).includes("managedFields"), true);
});

test("a get of one incarnation does not answer with another", async () => {
  const { client } = scripted([ok(configMap("a"))]);
  await assert.rejects(client.get({ ...ref, uid: "older" }), (reason) => isFault(reason, "NotFound"));
  assert.equal((await client.get({ ...ref, uid: "uid-a" })).metadata.name, "a");
});

test("requests that would address a whole collection are refused before they are sent", async () => {
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

test("a list follows its pages and gives the version of the first; items get the kind that lists leave out", async () => {
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

test("an expired continue token starts the list again, and the third time it is asked for whole", async () => {
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

test("a list that is never anything but expired is a fault, not a loop", async () => {
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

test("a patch that came too late is a Conflict, one that breaks a rule is Invalid", async () => {
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

test("create, replace and status writes go to their paths, with BigInts as numbers and the version in use", async () => {
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

test("a delete carries its preconditions and tells an object that stays from one that is gone", async () => {
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

const refusals: readonly { answer: HttpResponse; code: string }[] = [
  { answer: refusal(404, "NotFound"), code: "NotFound" },
  { answer: refusal(409, "AlreadyExists"), code: "AlreadyExists" },
  { answer: refusal(409, "Conflict"), code: "Conflict" },
  { answer: refusal(403, "Forbidden"), code: "PermissionDenied" },
  { answer: refusal(401, "Unauthorized"), code: "Unauthenticated" },
  { answer: refusal(400, "BadRequest"), code: "InvalidArgument" },
  { answer: refusal(405, "MethodNotAllowed"), code: "MethodNotAllowed" },
  { answer: refusal(410, "Gone"), code: "Expired" },
  { answer: refusal(413, "RequestEntityTooLarge"), code: "TooLarge" },
  { answer: refusal(415, "UnsupportedMediaType"), code: "UnsupportedMediaType" },
  { answer: refusal(422, "Invalid"), code: "Invalid" },
  { answer: refusal(500, "InternalError"), code: "Lost" },
  { answer: refusal(500, "ServerTimeout"), code: "DeadlineExceeded" },
  { answer: refusal(504, "Timeout"), code: "DeadlineExceeded" },
  { answer: refusal(503, "ServiceUnavailable"), code: "Unavailable" },
  {
    answer: { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "404 page not found\n" },
    code: "NotFound",
  },
  { answer: { status: 502, headers: { "content-type": "text/html" }, body: "<html>" }, code: "Lost" },
  { answer: { status: 301, headers: {}, body: "" }, code: "Lost" },
  { answer: { status: 200, headers: {}, body: "<html>" }, code: "Lost" },
  { answer: { status: 200, headers: {}, body: "[]" }, code: "Lost" },
  { answer: ok({ ...configMap("a"), kind: "Secret" }), code: "Lost" },
];
for (const { answer, code } of refusals)
  test(`HTTP ${answer.status} with ${String(answer.body).slice(0, 90) || "no body"} is ${code}`, async () => {
    const { client, asked } = scripted([answer]);
    await assert.rejects(
      client.create("ConfigMap", configMap("a") as never),
      (reason) => isFault(reason) && reason.code === code,
    );
    assert.equal(asked.length, 1);
  });

test("a refusal keeps the server's words, its details and when to come back", async () => {
  const details = { name: "a", kind: "configmaps", retryAfterSeconds: 3 };
  const { client } = scripted([refusal(500, "ServerTimeout", { details })]);
  await assert.rejects(
    client.get(ref),
    (reason) =>
      isFault(reason) &&
      reason.message === "it is ServerTimeout" &&
      reason.retryAfterMs === 3_000 &&
      reason.details !== undefined,
  );
});

test("what could not be read is not quoted, as it may be a secret", async () => {
  const { client } = scripted([{ status: 200, headers: {}, body: '{"data":{"password":"aHVudGVyMg==" oops' }]);
  await assert.rejects(
    client.get({ ...ref, kind: "Secret" }),
    (reason) => isFault(reason, "Lost") && !/aHVu/.test(String(reason) + String(reason.cause)),
  );
});

test("a busy server is asked again when it says so, for a bounded number of times", async () => {
  const busy = refusal(429, "TooManyRequests", {}, { "retry-after": "2" });
  const patient = scripted([busy, refusal(503, "ServiceUnavailable", {}, { "retry-after": "3" }), ok(configMap("a"))]);
  assert.equal(
    (await patient.world.run(patient.client.create("ConfigMap", configMap("a") as never))).metadata.name,
    "a",
  );
  assert.equal(patient.world.elapsed(), 5_000);

  const hopeless = scripted([busy]);
  await assert.rejects(
    hopeless.world.run(hopeless.client.get(ref)),
    (reason) => isFault(reason, "ResourceExhausted") && reason.retryAfterMs === 2_000,
  );
  assert.equal(hopeless.asked.length, 5);
});

test("who was stopped while waiting to be asked again decides anew instead of sending what it had decided", async () => {
  const { client, asked, world } = scripted([
    refusal(503, "ServiceUnavailable", {}, { "retry-after": "1" }),
    ok(configMap("a")),
  ]);
  const created = assert.rejects(client.create("ConfigMap", configMap("a") as never), { code: "Unavailable" });
  await world.advance(500);
  world.freeze(60_000);
  await world.run(created);
  assert.equal(asked.length, 1);
});

test("a server that wants an hour is left to the caller's patience", async () => {
  const { client, asked } = scripted([refusal(503, "ServiceUnavailable", {}, { "retry-after": "3600" })]);
  await assert.rejects(
    client.get(ref),
    (reason) => isFault(reason, "Unavailable") && reason.retryAfterMs === 3_600_000,
  );
  assert.equal(asked.length, 1);
});

test("Retry-After may be a date", async () => {
  const world = createVirtualWorld();
  const date = new Date(world.now() + 4_000).toUTCString();
  const { client } = scripted([refusal(500, "InternalError", {}, { "retry-after": date })], { world });
  await assert.rejects(
    client.get(ref),
    (reason) => isFault(reason) && Math.abs((reason.retryAfterMs ?? 0) - 4_000) < 1_000,
  );
});

const never = (): Promise<HttpResponse> => new Promise(() => undefined);

test("no answer is a deadline, and the handler is told to stop", async () => {
  const { client, asked, world } = scripted([never]);
  await assert.rejects(
    world.run(client.get(ref)),
    (reason) =>
      isFault(reason, "DeadlineExceeded") && reason.message.includes("GET /api/v1/namespaces/team/configmaps/a"),
  );
  assert.equal(world.elapsed(), 30_000);
  assert.equal(asked[0]?.signal?.aborted, true);
});

test("the caller's signal ends a call, a wait for a busy server and a wait for the rate limit", async () => {
  for (const [answer, rateLimit] of [
    [never, undefined],
    [refusal(429, "TooManyRequests", {}, { "retry-after": "20" }), undefined],
    [ok(configMap("a")), { qps: 0.001, burst: 0 }],
  ] as const) {
    const { client, world } = scripted([answer], { rateLimit });
    const stop = new AbortController();
    const call = assert.rejects(client.get(ref, { signal: stop.signal }), (reason) => isFault(reason, "Cancelled"));
    await world.advance(1_000);
    stop.abort();
    await call;
    assert.equal(world.sleepers(), 0);
  }
});

test("the rate limit does not hold up a lease, which would be lost meanwhile", async () => {
  const lease = { kind: "Lease", namespace: "default", name: "leader" } as const;
  const { client, world } = scripted([ok({ ...configMap("leader"), kind: "Lease" })], {
    rateLimit: { qps: 0.001, burst: 0 },
  });
  await world.run(client.get(lease));
  assert.equal(world.elapsed(), 0);
});

test("every attempt is measured, also the one without an answer", async () => {
  const measured: string[] = [];
  const answers = [refusal(429, "TooManyRequests"), ok(configMap("a")), () => Promise.reject(new Error("cut"))];
  const { client, world } = scripted(answers, {
    measure: ({ method, code }) => void measured.push(`${method} ${code}`),
  });
  await world.run(client.get(ref));
  await assert.rejects(client.get(ref));
  assert.deepEqual(measured, ["GET 429", "GET 200", "GET <error>"]);
});

const frame = (type: string, object: object): string => `${print({ type, object })}\n`;
async function* chunks(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}
async function collect<T>(events: AsyncIterable<T>): Promise<{ events: T[]; reason?: unknown }> {
  const seen: T[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { events: seen };
  } catch (reason) {
    return { events: seen, reason };
  }
}

test("a watch turns frames into events, passes over types it does not know, and ends when the server ends it", async () => {
  const body = chunks(
    frame("ADDED", configMap("a", { managedFields: [{}] })) + frame("NEWTYPE", configMap("z")),
    frame("DELETED", configMap("a")),
    frame("BOOKMARK", { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: "99" } }),
  );
  const { client, asked } = scripted([{ status: 200, headers: {}, body }]);
  const { events, reason } = await collect<WatchEvent<"ConfigMap">>(
    client.watch("ConfigMap", { namespace: "team", resourceVersion: "5", timeoutSeconds: 300 }),
  );
  assert.equal(reason, undefined);
  assert.deepEqual(events, [
    { kind: "put", object: configMap("a") },
    { kind: "gone", object: configMap("a") },
    { kind: "bookmark", resourceVersion: "99" },
  ]);
  assert.equal(
    asked[0]?.path,
    "/api/v1/namespaces/team/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300",
  );
});

const endings: readonly { given: string; body: AsyncIterable<string>; code: string }[] = [
  {
    given: "an ERROR event with 410",
    body: chunks(frame("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" })),
    code: "Expired",
  },
  {
    given: "an ERROR event with a code only",
    body: chunks(frame("ERROR", { kind: "Status", code: 410 })),
    code: "Expired",
  },
  { given: "an ERROR event without a code", body: chunks(frame("ERROR", { kind: "Status" })), code: "Lost" },
  { given: "a truncated frame", body: chunks('{"type":"ADDED","obj'), code: "Lost" },
  { given: "a frame that is no JSON", body: chunks("{{\n"), code: "Lost" },
  { given: "a frame that is no event", body: chunks('{"kind":"ConfigMap"}\n'), code: "Lost" },
  {
    given: "a cut connection",
    body: (async function* () {
      yield frame("ADDED", configMap("b"));
      throw new Error("cut");
    })(),
    code: "Lost",
  },
];
for (const { given, body, code } of endings)
  test(`a watch that meets ${given} ends with ${code}`, async () => {
    const { client } = scripted([{ status: 200, headers: {}, body }]);
    const { reason } = await collect(client.watch("ConfigMap", { resourceVersion: "1" }));
    assert.equal(isFault(reason) && reason.code, code);
  });

test("a watch refused at once with 410 is Expired too", async () => {
  const { client } = scripted([refusal(410, "Expired")]);
  const { reason } = await collect(client.watch("ConfigMap", { resourceVersion: "1" }));
  assert.equal(isFault(reason, "Expired"), true);
});

test("a silent watch has no deadline of its own, and ends with the caller's signal", async () => {
  async function* silence(): AsyncGenerator<string> {
    await new Promise(() => undefined);
  }
  const { client, world, asked } = scripted([{ status: 200, headers: {}, body: silence() }]);
  const stop = new AbortController();
  const watching = collect(client.watch("ConfigMap", { resourceVersion: "1", signal: stop.signal }));
  await world.advance(600_000);
  assert.equal(asked[0]?.signal?.aborted, false);
  stop.abort();
  assert.equal(isFault((await watching).reason, "Cancelled"), true);
  assert.equal(asked[0]?.signal?.aborted, true);
});

test("a watch that is no longer read closes its connection", async () => {
  const body = chunks(frame("ADDED", configMap("a")), frame("ADDED", configMap("b")));
  const { client, asked } = scripted([{ status: 200, headers: {}, body }]);
  for await (const event of client.watch("ConfigMap", { resourceVersion: "1" })) {
    assert.equal(event.kind, "put");
    break;
  }
  assert.equal(asked[0]?.signal?.aborted, true);
});

test("discovery finds the versions a server has, and none for a group it does not know", async () => {
  const group = { kind: "APIGroup", versions: [{ version: "v1beta1" }, { version: "v1alpha1" }] };
  assert.deepEqual(await servedVersions(scripted([ok(group)]).client, "snapshot.storage.k8s.io"), [
    "v1beta1",
    "v1alpha1",
  ]);
  assert.deepEqual(await servedVersions(scripted([ok({ kind: "APIVersions", versions: ["v1"] })]).client, ""), ["v1"]);
  assert.deepEqual(await servedVersions(scripted([refusal(404, "NotFound")]).client, "x"), []);
  await assert.rejects(servedVersions(scripted([refusal(403, "Forbidden")]).client, "x"), (reason) =>
    isFault(reason, "PermissionDenied"),
  );
});

test("an older server is spoken to in the newest version that both know", async () => {
  const { client } = scripted([ok({ versions: [{ version: "v1beta1" }] }), refusal(404, "NotFound")]);
  assert.deepEqual(await chooseVersions(client, ["VolumeSnapshot", "VolumeSnapshotClass", "VolumeGroupSnapshot"]), {
    "snapshot.storage.k8s.io": "v1beta1",
  });
});
