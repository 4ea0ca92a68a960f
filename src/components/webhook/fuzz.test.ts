/** Whatever is sent: an AdmissionReview for what is one, 400 for what is not, at once, and nothing stays behind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { platformAllowLists } from "../../rules/share-allow-lists.ts";
import { createMetrics } from "../../runtime/metrics.ts";
import { createWebhook } from "./index.ts";
import { webhookMetrics } from "./metrics.ts";

const bodiesMax = 50_000;
const slowestMsMax = 1_000;
const heapBytesMax = 16 * 2 ** 20;
const batches = 50;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
function heapInUse(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const resources = ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses", "persistentvolumeclaims"];
const keys = fc.constantFrom(
  ...["spec", "source", "persistentVolumeClaimName", "volumeSnapshotContentName", "volumeSnapshotClassName", "driver"],
  ...["volumeSnapshotRef", "name", "namespace", "uid", "metadata", "annotations", "dataSource", "dataSourceRef"],
  ...["kind", "apiGroup", "deletionPolicy", "__proto__", "constructor", "toString", ""],
);
const leaf = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, "", "Delete", "snapshot.storage.k8s.io/v1", "PersistentVolumeClaim"),
  fc.string({ maxLength: 12 }),
);
const { odd } = fc.letrec((tie) => ({
  odd: fc.oneof(
    { depthSize: "small" },
    { weight: 2, arbitrary: leaf },
    { weight: 3, arbitrary: fc.dictionary(keys, tie("odd"), { maxKeys: 5 }) },
    fc.array(tie("odd"), { maxLength: 3 }),
  ),
}));
const object = fc.dictionary(keys, odd, { maxKeys: 6 });

const review = fc
  .record({
    apiVersion: fc.constantFrom("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
    operation: fc.constantFrom("CREATE", "UPDATE", "DELETE"),
    resource: fc.constantFrom(...resources, "pods", "__proto__"),
    object,
    oldObject: object,
    userInfo: odd,
    dryRun: odd,
  })
  .map(({ apiVersion, resource, ...request }) => {
    const group = resource.startsWith("volume") ? "snapshot.storage.k8s.io" : "";
    const named = { group, version: "v1", resource };
    return JSON.stringify({ apiVersion, kind: "AdmissionReview", request: { uid: "u", ...request, resource: named } });
  });
/** JSON.parse takes the last of two equal keys, and "__proto__" as a key like any other. */
const twice = review.map((text) => text.replace('"request":', '"request":7,"__proto__":{"uid":"x"},"request":'));
const truncated = fc.tuple(review, fc.nat(400)).map(([text, at]) => text.slice(0, at));
const nested = fc.nat(20_000).map((depth) => {
  const deep = `${'{"spec":'.repeat(depth)}1${"}".repeat(depth)}`;
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","resource":{"group":"snapshot.storage.k8s.io","resource":"volumesnapshots"},"object":${deep}}}`;
});
const body = fc.oneof(
  { weight: 60, arbitrary: review },
  { weight: 10, arbitrary: twice },
  { weight: 10, arbitrary: truncated },
  { weight: 10, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 10, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: nested },
);

const isReview = (sent: string | Uint8Array): boolean => {
  try {
    const found = JSON.parse(Buffer.from(sent as string).toString("utf8"));
    const { kind, request, apiVersion } = found ?? {};
    const isOurs = kind === "AdmissionReview" && String(apiVersion).startsWith("admission.k8s.io/v1");
    return isOurs && typeof request?.uid === "string" && request.uid !== "";
  } catch {
    return false;
  }
};

test(`${bodiesMax} random bodies get a quick response each, and leave nothing behind`, async () => {
  const handler = createWebhook({
    world: realWorld,
    log: silent,
    instruments: createMetrics().instruments(webhookMetrics),
    ready: () => undefined,
    gates: () => ({ anyVolumeDataSource: true, crossNamespace: false }),
    otherDefaults: () => ["other"],
    allowLists: () => platformAllowLists,
    self: () => ({ username: "webhook", uid: "1" }),
  });
  const headers = { "content-type": "application/json" };
  const counts = { 200: 0, 400: 0 };
  let slowestMs = 0;
  const heapBefore = heapInUse();
  for (let seed = 0; seed < batches; seed++)
    for (const given of fc.sample(body, { numRuns: bodiesMax / batches, seed })) {
      const startedMs = performance.now();
      const answer = await handler({ method: "POST", path: "/volumesnapshots", headers, body: given });
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      assert.equal(answer.status, isReview(given) ? 200 : 400, String(given).slice(0, 500));
      counts[answer.status as 200 | 400] += 1;
      if (answer.status === 200) assert.equal(JSON.parse(String(answer.body)).response.uid, "u");
    }
  assert.ok(counts[200] > bodiesMax / 2 && counts[400] > bodiesMax / 10, JSON.stringify(counts));
  assert.ok(slowestMs < slowestMsMax, `one took ${slowestMs} ms`);
  const grown = heapInUse() - heapBefore;
  assert.ok(grown < heapBytesMax, `the heap grew by ${grown} bytes`);
  assert.equal(({} as { uid?: string }).uid, undefined, "no prototype was changed");
});
