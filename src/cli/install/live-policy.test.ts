import assert from "node:assert/strict";
import { test } from "node:test";
import { planIn } from "../../../test/install-cluster.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { installationOf } from "../deploy.ts";
import { listAt } from "./fields.ts";
import { isTrusted, withLivePolicy, withoutRefusals } from "./live-policy.ts";
import { planFor, refusesUntilReady } from "./selection.ts";

const whole = planFor(["webhook", "shared-resource"], installationOf("1.2.3"), { claims: true }).objects;
const configurations = whole.filter(({ kind }) => kind.endsWith("WebhookConfiguration"));
const [wanted, shares, claims] = configurations as [ManifestObject, ManifestObject, ManifestObject];
const policiesOf = (object: ManifestObject) =>
  listAt(object as unknown as JsonObject, "webhooks").map(({ failurePolicy }) => failurePolicy);
const stored = (name: string, failurePolicy: string): JsonObject => ({ webhooks: [{ name, failurePolicy }] });
const named = (object: ManifestObject) => String(listAt(object as unknown as JsonObject, "webhooks")[0]?.name);

test("applying again keeps the failurePolicy that promote has set, and the one that lets claims pass", () => {
  assert.deepEqual(policiesOf(withLivePolicy(wanted, stored(named(wanted), "Fail"))), ["Fail"]);
  assert.deepEqual(policiesOf(withLivePolicy(wanted, stored("other", "Fail"))), ["Ignore"]);
  assert.deepEqual(policiesOf(withLivePolicy(wanted, undefined)), ["Ignore"]);
  assert.ok(refusesUntilReady(claims));
  assert.deepEqual(policiesOf(withLivePolicy(claims, stored(named(claims), "Ignore"))), ["Ignore"]);
  assert.deepEqual(policiesOf(withLivePolicy(claims, undefined)), ["Fail"]);
  assert.deepEqual(policiesOf(withLivePolicy(shares, stored(named(shares), "Fail"))), ["Ignore"], "it is fixed");
});

test("until the certificate is trusted nothing is refused", () => {
  assert.deepEqual(policiesOf(withoutRefusals(claims)), ["Ignore"]);
  const { webhooks: _, ...rest } = withoutRefusals(claims) as unknown as JsonObject;
  const { webhooks: _claims, ...expected } = claims as unknown as JsonObject;
  assert.deepEqual(rest, expected);
});

const trusting = (...bundles: readonly (string | undefined)[]): JsonObject => ({
  webhooks: bundles.map((caBundle) => ({ clientConfig: caBundle === undefined ? {} : { caBundle } })),
});
for (const [given, configuration, expected] of [
  ["no configuration", undefined, false],
  ["no webhooks", { webhooks: [] }, false],
  ["a caBundle", trusting("AAAA"), true],
  ["an empty caBundle", trusting(""), false],
  ["no caBundle", trusting(undefined), false],
  ["a webhook of two without one", trusting("AAAA", undefined), false],
] as const)
  test(`given ${given}, then the certificate is ${expected ? "" : "not "}trusted`, () =>
    assert.equal(isTrusted(configuration as JsonObject | undefined), expected));

test("nothing else of the object changes", () => {
  const { webhooks: _, ...rest } = withLivePolicy(wanted, undefined) as unknown as JsonObject;
  const { webhooks: _wanted, ...expected } = wanted as unknown as JsonObject;
  assert.deepEqual(rest, expected);
  const other = planIn("one", "webhook").objects.find(({ kind }) => kind === "Deployment") as ManifestObject;
  assert.equal(withLivePolicy(other, { webhooks: [] }), other);
});
