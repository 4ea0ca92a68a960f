import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { HttpRequest } from "../../base/http.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { platformAllowLists } from "../../rules/share-allow-lists.ts";
import { createMetrics } from "../../runtime/metrics.ts";
import { createWebhook, type WebhookDeps } from "./index.ts";
import { webhookMetrics } from "./metrics.ts";

const group = "snapshot.storage.k8s.io";
const snapshots = { group, version: "v1", resource: "volumesnapshots" };
const classes = { group, version: "v1", resource: "volumesnapshotclasses" };
const claims = { group: "", version: "v1", resource: "persistentvolumeclaims" };
const valid = { spec: { source: { persistentVolumeClaimName: "data" } } };
const invalid = { spec: { source: {} } };

function setUp(more: Partial<WebhookDeps> = {}) {
  const metrics = createMetrics();
  const handler = createWebhook({
    world: realWorld,
    log: silent,
    instruments: metrics.instruments(webhookMetrics),
    gates: () => ({ anyVolumeDataSource: true, crossNamespace: false }),
    otherDefaults: () => [],
    allowLists: () => platformAllowLists,
    self: () => undefined,
    ready: () => undefined,
    ...more,
  });
  const send = async (request: Partial<HttpRequest>) => {
    const { status, body } = await handler({
      method: "POST",
      path: "/volumesnapshots",
      headers: { "content-type": "application/json" },
      ...request,
    });
    return { status, text: String(body) };
  };
  const review = async (request: object, apiVersion = "admission.k8s.io/v1") => {
    const body = JSON.stringify({
      apiVersion,
      kind: "AdmissionReview",
      request: { uid: "u", operation: "CREATE", resource: snapshots, ...request },
    });
    const { status, text } = await send({ body });
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
  return { send, review, metrics };
}

for (const version of ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"])
  test(`a review of ${version} is answered in that version, with its uid`, async () => {
    const { review } = setUp();
    const answer = await review({ object: valid }, version);
    assert.deepEqual(answer, {
      kind: "AdmissionReview",
      apiVersion: version,
      response: { uid: "u", allowed: true },
    });
  });

test("a denial carries code 400, the field and the rule's code", async () => {
  const { response } = await setUp().review({ object: invalid });
  assert.equal(response.allowed, false);
  assert.equal(response.status.code, 400);
  assert.match(response.status.message, /^spec\.source: .*\[SNAP-101\]$/);
});

test("a rule that the stored object already broke passes with a warning", async () => {
  const { response } = await setUp().review({ operation: "UPDATE", object: invalid, oldObject: invalid });
  assert.equal(response.allowed, true);
  assert.match(response.warnings[0], /\[SNAP-101\]$/);
});

test("a warning that is too long for clients loses its end, and keeps its code", async () => {
  const object = { driver: "d", deletionPolicy: "x".repeat(300) };
  const { response } = await setUp().review({ resource: classes, operation: "UPDATE", object, oldObject: object });
  assert.equal(response.warnings[0].length, 256);
  assert.match(response.warnings[0], /x… \[SNAP-116\]$/);
});

test("on CREATE an oldObject is ignored", async () => {
  const { response } = await setUp().review({ object: invalid, oldObject: invalid });
  assert.equal(response.allowed, false);
});

test("unknown resources and other operations are allowed", async () => {
  const { review } = setUp();
  for (const request of [
    { resource: { group: "apps", version: "v1", resource: "deployments" }, object: invalid },
    { resource: { ...snapshots, group: "other.example" }, object: invalid },
    { resource: { group: "", version: "v1", resource: "constructor" }, object: invalid },
    { operation: "DELETE", oldObject: invalid },
    { operation: "CONNECT" },
  ])
    assert.equal((await review(request)).response.allowed, true);
});

test("every path validates by the resource of the review", async () => {
  const { send } = setUp();
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "u", operation: "CREATE", resource: snapshots, object: invalid },
  });
  for (const path of ["/", "/volumesnapshots", "/volumesnapshot", "/persistentvolumeclaims?timeout=2s"])
    assert.equal(JSON.parse((await send({ path, body })).text).response.allowed, false);
});

test("a custom kind in dataSource is copied to dataSourceRef by a patch", async () => {
  const dataSource = { apiGroup: "example.com", kind: "Tarball", name: "t" };
  const { response } = await setUp().review({ resource: claims, object: { spec: { dataSource } } });
  assert.equal(response.patchType, "JSONPatch");
  assert.deepEqual(JSON.parse(Buffer.from(response.patch, "base64").toString()), [
    { op: "add", path: "/spec/dataSourceRef", value: dataSource },
  ]);
});

test("a rejected claim gets 422, is counted by rule, and is not patched", async () => {
  const { review, metrics } = setUp();
  const { response } = await review({
    resource: claims,
    object: { spec: { dataSource: { kind: "ConfigMap", name: "m" } } },
  });
  assert.equal(response.status.code, 422);
  assert.equal(response.patch, undefined);
  const { text } = await metrics.scrape();
  assert.match(text, /snapkeep_claim_denials_total\{rule="SNAP-131"\} 1/);
  assert.match(text, /snapshot_webhook_decisions_total\{rule="SNAP-131",verdict="denied",ratcheted="false"\} 1/);
});

const aDefault = {
  metadata: { name: "silver", annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
  driver: "driver.example",
  deletionPolicy: "Delete",
};

test("a second default class is rejected, and passes with a warning while classes are not listed", async () => {
  const asked: string[] = [];
  const known = setUp({
    otherDefaults: (driver, name) => {
      asked.push(`${driver} ${name}`);
      return ["gold"];
    },
  });
  const refused = await known.review({ resource: classes, object: aDefault });
  assert.match(refused.response.status.message, /gold.*\[SNAP-121\]$/);
  assert.deepEqual(asked, ["driver.example silver"]);
  const unknown = await setUp({ otherDefaults: () => undefined }).review({ resource: classes, object: aDefault });
  assert.equal(unknown.response.allowed, true);
  assert.equal(unknown.response.warnings.length, 1);
  assert.match(unknown.response.warnings[0], /not known yet \[SNAP-123\]$/);
});

test("a class that is already the default may be updated", async () => {
  const { review } = setUp({ otherDefaults: () => ["gold"] });
  const { response } = await review({ operation: "UPDATE", resource: classes, object: aDefault, oldObject: aDefault });
  assert.equal(response.allowed, true);
});

test("metric labels stay bounded for any resources in reviews", async () => {
  const { review, metrics } = setUp();
  for (let index = 0; index < 10; index++) await review({ resource: { group: "x", resource: `r${index}` } });
  const { text } = await metrics.scrape();
  assert.equal(text.match(/decision_duration_seconds_count\{/g)?.length, 1);
});

const unreadable: readonly [string, string][] = [
  ["nothing", ""],
  ["half a document", '{"kind":"AdmissionReview"'],
  ["an array", "[]"],
  ["another kind", '{"kind":"Pod","apiVersion":"v1"}'],
  [
    "a version that is not known",
    '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2","request":{"uid":"u"}}',
  ],
  ["a review without a request", '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}'],
  ["a request without a uid", '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}}'],
];
for (const [given, body] of unreadable)
  test(`given ${given}, the response is 400 and names the expected input`, async () => {
    const { status, text } = await setUp().send({ body });
    assert.equal(status, 400);
    assert.match(text, /is not an AdmissionReview/);
  });

test("another content type is 400, another method 405", async () => {
  const { send } = setUp();
  assert.equal((await send({ headers: { "content-type": "text/plain" }, body: "{}" })).status, 400);
  assert.equal((await send({ method: "PUT", body: "{}" })).status, 405);
});

test("a body that parses gets a review, any other body gets 400", async () => {
  const { send } = setUp();
  const resource = fc.constantFrom(snapshots, { ...snapshots, resource: "volumesnapshotcontents" }, classes, claims);
  const odd = fc.oneof(
    fc.json(),
    fc.string(),
    resource.map((one) => JSON.stringify(one)),
  );
  const body = fc.oneof(
    fc.string(),
    odd,
    fc
      .record({
        resource,
        operation: fc.constantFrom("CREATE", "UPDATE"),
        object: fc.jsonValue(),
        oldObject: fc.jsonValue(),
      })
      .map((request) =>
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          request: { uid: "u", ...request },
        }),
      ),
  );
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const answer = await send({ body: text });
      if (answer.status === 200) assert.equal(JSON.parse(answer.text).response.uid, "u");
      else assert.equal(answer.status, 400);
    }),
    { numRuns: 2_000 },
  );
});

test("deep nesting, duplicate keys and prototype members are plain data", async () => {
  const { send } = setUp();
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const bodyWith = (object: string): string =>
    `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE","resource":${JSON.stringify(snapshots)},"object":${object},"oldObject":${object}}}`;
  for (const object of [
    `{"spec":{"source":${deep}}}`,
    `{"spec":{"source":{"persistentVolumeClaimName":${deep}}}}`,
    '{"__proto__":{"spec":{"source":{"persistentVolumeClaimName":"x"}}}}',
    '{"spec":{"source":{"persistentVolumeClaimName":"a","persistentVolumeClaimName":"b"}}}',
    '{"constructor":{"prototype":{"x":1}}}',
  ]) {
    const { status, text } = await send({ body: bodyWith(object) });
    assert.equal(status, 200, text.slice(0, 200));
  }
  assert.equal(({} as Record<string, unknown>).x, undefined);
});

test("a stopping webhook fails /readyz, passes /healthz, and keeps validating", async () => {
  const { send, review } = setUp({ ready: () => "stopping" });
  assert.deepEqual(await send({ method: "GET", path: "/readyz" }), { status: 503, text: "stopping\n" });
  assert.equal((await send({ method: "GET", path: "/healthz" })).status, 200);
  assert.equal((await review({ object: valid })).response.allowed, true);
});
