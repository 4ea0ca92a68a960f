import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { makerOf, shareVolume } from "../../../test/shared-resource-objects.ts";
import type { JsonObject } from "../../base/json.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { podMakers } from "../../rules/pod-specs.ts";
import { type AllowLists, allowListIn, platformAllowLists } from "../../rules/share-allow-lists.ts";
import { shareDriver } from "../../rules/shared-resources.ts";
import { createMetrics } from "../../runtime/metrics.ts";
import { createWebhook } from "./index.ts";
import { webhookMetrics } from "./metrics.ts";

interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason?: string; readonly message: string };
  readonly warnings?: readonly string[];
  readonly patch?: string;
}

function setUp(lists: AllowLists = platformAllowLists) {
  const metrics = createMetrics();
  const handler = createWebhook({
    world: realWorld,
    log: silent,
    instruments: metrics.instruments(webhookMetrics),
    gates: () => ({ anyVolumeDataSource: true, crossNamespace: false }),
    otherDefaults: () => [],
    allowLists: () => lists,
    self: () => undefined,
    ready: () => undefined,
  });
  const review = async (group: string, resource: string, request: object, version = "v1"): Promise<Answer> => {
    const { status, body } = await handler({
      method: "POST",
      path: "/resource-validation",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        apiVersion: `admission.k8s.io/${version}`,
        kind: "AdmissionReview",
        request: { uid: "u-1", operation: "CREATE", resource: { group, version: "v1", resource }, ...request },
      }),
    });
    assert.equal(status, 200);
    return (JSON.parse(String(body)) as { response: Answer }).response;
  };
  const count = async (name: string): Promise<number> => {
    const { text } = await metrics.scrape();
    const found = new RegExp(`^openshift_csi_share_${name}_webhook_total (\\d+)$`, "m").exec(text);
    return Number(found?.[1]);
  };
  return { review, count, metrics };
}

const shares = "sharedresource.openshift.io";
const writable = shareVolume("pki", {});
const readOnly = shareVolume("pki", { readOnly: true });
const aShare = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${shares}/v1alpha1`,
  metadata: { name },
  spec: { secretRef: { namespace: "team", name: "x" }, configMapRef: { namespace: "team", name: "x" } },
  ...more,
});

for (const { kind, group, plural } of podMakers) {
  const { make } = makerOf(kind);
  test(`R1, R2, R6, R21, R85: CREATE of a ${kind} with a writable volume is denied with 403, its uid and no patch`, async () => {
    const answer = await setUp().review(group, plural, { object: { kind, ...make([writable]) } });
    assert.deepEqual([answer.uid, answer.allowed, answer.patch], ["u-1", false, undefined]);
    assert.deepEqual([answer.status?.code, answer.status?.reason], [403, "Forbidden"]);
    assert.match(answer.status?.message ?? "", /csi\.readOnly: must be true.*\[SNAP-151\]$/);
  });
  test(`R6, R33: the new ${kind} is judged on UPDATE, and what was wrong before passes with a warning`, async () => {
    const { review } = setUp();
    const update = (object: JsonObject, oldObject: JsonObject) =>
      review(group, plural, { operation: "UPDATE", object, oldObject });
    assert.equal((await update(make([writable]), make([readOnly]))).allowed, false);
    assert.equal((await update(make([readOnly]), make([writable]))).allowed, true);
    const kept = await update(make([writable]), make([writable]));
    assert.equal(kept.allowed, true);
    assert.match(kept.warnings?.[0] ?? "", /^already broken before this change: .*\[SNAP-151\]$/);
  });
}

for (const resource of ["sharedsecrets", "sharedconfigmaps"])
  test(`R1, R3: CREATE of ${resource} with a reserved name is denied with 403`, async () => {
    const answer = await setUp().review(shares, resource, { object: aShare("openshift-mine") });
    assert.deepEqual([answer.allowed, answer.status?.code], [false, 403]);
    assert.equal((await setUp().review(shares, resource, { object: aShare("mine") })).allowed, true);
  });

test("R22: kinds that no rule names are allowed, with their uid", async () => {
  const { review } = setUp();
  for (const [group, plural] of [
    ["tekton.dev", "pipelineruns"],
    ["apps.example", "deployments"],
    ["", "secrets"],
    ["build.openshift.io", "buildrequests"],
  ] as const)
    assert.deepEqual(await review(group, plural, { object: makerOf("Deployment").make([writable]) }), {
      uid: "u-1",
      allowed: true,
    });
});

test("R23: a BuildRequest carries no volumes; the Build that it creates is denied", async () => {
  const { review } = setUp();
  const buildRequest = { kind: "BuildRequest", metadata: { name: "app" } };
  assert.equal((await review("build.openshift.io", "buildconfigs", { object: buildRequest })).allowed, true);
  const build = { object: makerOf("Build").make([writable]) };
  assert.equal((await review("build.openshift.io", "builds", build)).allowed, false);
});

test("R24: the pod of a build with a writable volume is denied", async () => {
  const object = { metadata: { name: "app-1-build" }, ...makerOf("Pod").make([writable]) };
  assert.equal((await setUp().review("", "pods", { object })).allowed, false);
});

test("R40, R60: conditions of a share change no verdict", async () => {
  const { review } = setUp();
  const status = { conditions: ["Available", "Ready"].map((type) => ({ type, status: "False" })) };
  const update = { operation: "UPDATE", object: aShare("mine", { status }), oldObject: aShare("mine") };
  assert.equal((await review(shares, "sharedsecrets", update)).allowed, true);
  assert.equal((await review("", "pods", { object: makerOf("Pod").make([readOnly]) })).allowed, true);
});

test("R10, R63, R64: each refused share moves its own counter by one, and nothing else does", async () => {
  const { review, count } = setUp();
  await review(shares, "sharedsecrets", { object: aShare("openshift-mine") });
  await review(shares, "sharedsecrets", { object: aShare("mine") });
  await review(shares, "sharedsecrets", { operation: "DELETE", oldObject: aShare("openshift-mine"), object: null });
  assert.equal(await count("sharedsecret_reserved_name_failures"), 1);
  assert.equal(await count("sharedconfigmap_reserved_name_failures"), 0);
  await review(shares, "sharedconfigmaps", { object: aShare("openshift-mine") });
  assert.equal(await count("sharedconfigmap_reserved_name_failures"), 1);
  assert.equal(await count("sharedsecret_reserved_name_failures"), 1);
});

test("R10, R66: pods with volumes of shares are counted as good or bad, other pods are not counted", async () => {
  const { review, count } = setUp();
  const pod = (...volumes: readonly JsonObject[]) => review("", "pods", { object: makerOf("Pod").make(volumes) });
  await pod();
  await pod({ name: "a", emptyDir: {} });
  await pod({ name: "a", csi: { driver: "other.example" } });
  assert.deepEqual([await count("pod_readonly_failures"), await count("pod_readonly_successes")], [0, 0]);
  await pod(readOnly);
  await pod(readOnly, writable);
  await pod(writable, writable);
  assert.deepEqual([await count("pod_readonly_failures"), await count("pod_readonly_successes")], [2, 1]);
});

test("R67, R69: the counters have no labels, their names end in _webhook_total, and they are 0 from the start", async () => {
  const { metrics } = setUp();
  const { text } = await metrics.scrape();
  const lines = text.split("\n").filter((line) => line.startsWith("openshift_csi_share_"));
  assert.deepEqual(lines.sort(), [
    "openshift_csi_share_pod_readonly_failures_webhook_total 0",
    "openshift_csi_share_pod_readonly_successes_webhook_total 0",
    "openshift_csi_share_sharedconfigmap_reserved_name_failures_webhook_total 0",
    "openshift_csi_share_sharedsecret_reserved_name_failures_webhook_total 0",
  ]);
});

test("R58: two replicas give the same answer to the same bytes, again and again", async () => {
  const [one, other] = [setUp(), setUp()];
  const requests: readonly (readonly [string, string, object])[] = [
    ["", "pods", { object: makerOf("Pod").make([writable]) }],
    [shares, "sharedsecrets", { object: aShare("openshift-mine") }],
    [shares, "sharedsecrets", { object: aShare("mine") }],
  ];
  for (const request of requests) {
    const first = await one.review(...request);
    assert.deepEqual(await other.review(...request), first);
    assert.deepEqual(await one.review(...request), first);
  }
});

test("R14: a share that is added to the list is allowed, with no other change", async () => {
  const lists = { ...platformAllowLists, SharedSecret: allowListIn({ "openshift-mine": "team:x" }).list };
  assert.equal((await setUp().review(shares, "sharedsecrets", { object: aShare("openshift-mine") })).allowed, false);
  assert.equal(
    (await setUp(lists).review(shares, "sharedsecrets", { object: aShare("openshift-mine") })).allowed,
    true,
  );
});

/** Whatever a valid pod can have: the rule looks at one field of one kind of volume. */
const word = fc.constantFrom(
  "",
  "pki",
  "true",
  "readOnly",
  shareDriver,
  `${shareDriver}.example`,
  "\u0000",
  "__proto__",
);
const words = fc.dictionary(word, word, { maxKeys: 3 });
const ours = { driver: fc.constant(shareDriver), readOnly: fc.constant(true) };
const other = word.filter((driver) => driver !== shareDriver);
const validVolume = fc.oneof(
  fc.record({ name: word, csi: fc.record({ ...ours, volumeAttributes: words }) }),
  fc.record({ name: word, csi: fc.record({ driver: other, readOnly: fc.constantFrom(true, false, null) }) }),
  fc.record({ name: word, csi: fc.record({ driver: other }) }),
  fc.record({ name: word, emptyDir: words }),
  fc.record({ name: word, secret: fc.record({ secretName: word, optional: fc.boolean() }) }),
  fc.record({ name: word, hostPath: fc.record({ path: word, csi: fc.record({ driver: word }) }) }),
);
const validPod = fc.record(
  {
    metadata: fc.record({ name: word, labels: words }),
    spec: fc.record(
      {
        volumes: fc.option(fc.array(validVolume, { maxLength: 6 })),
        containers: fc.array(fc.record({ name: word, volumeMounts: fc.array(words, { maxLength: 2 }) }), {
          maxLength: 2,
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

test("R51, R74: of 10,000 valid pods none is denied", async () => {
  const { review, count } = setUp();
  await fc.assert(
    fc.asyncProperty(validPod, async (object) => {
      const { allowed, uid } = await review("", "pods", { object });
      assert.deepEqual([allowed, uid], [true, "u-1"]);
    }),
    { numRuns: 10_000 },
  );
  assert.equal(await count("pod_readonly_failures"), 0);
});
