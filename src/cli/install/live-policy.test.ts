import assert from "node:assert/strict";
import { test } from "node:test";
import { planIn } from "../../../test/install-cluster.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { listAt } from "./fields.ts";
import { withLivePolicy } from "./live-policy.ts";

const wanted = planIn("one", "webhook").objects.find(({ kind }) =>
  kind.endsWith("WebhookConfiguration"),
) as ManifestObject;
const policiesOf = (object: ManifestObject) =>
  listAt(object as unknown as JsonObject, "webhooks").map(({ failurePolicy }) => failurePolicy);
const stored = (name: string, failurePolicy: string): JsonObject => ({ webhooks: [{ name, failurePolicy }] });

test("applying again keeps the failurePolicy that promote has set", () => {
  const name = "snapshot.webhook-validation.storage.sigs.k8s.io";
  assert.deepEqual(policiesOf(withLivePolicy(wanted, stored(name, "Fail"))), ["Fail"]);
  assert.deepEqual(policiesOf(withLivePolicy(wanted, stored("other", "Fail"))), ["Ignore"]);
  assert.deepEqual(policiesOf(withLivePolicy(wanted, undefined)), ["Ignore"]);
});

test("nothing else of the object changes", () => {
  const { webhooks: _, ...rest } = withLivePolicy(wanted, undefined) as unknown as JsonObject;
  const { webhooks: _wanted, ...expected } = wanted as unknown as JsonObject;
  assert.deepEqual(rest, expected);
  const other = planIn("one", "webhook").objects.find(({ kind }) => kind === "Deployment") as ManifestObject;
  assert.equal(withLivePolicy(other, { webhooks: [] }), other);
});
