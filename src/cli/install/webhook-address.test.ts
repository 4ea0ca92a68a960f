import assert from "node:assert/strict";
import { test } from "node:test";
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { withServices } from "./webhook-address.ts";

const service = { service: { namespace: "snapkeep", name: "hook", path: "/" } };
const ours = { metadata: { name: "v" }, webhooks: [{ name: "a", clientConfig: service }] } as unknown as ManifestObject;
const stored = (...webhooks: readonly JsonObject[]): JsonObject => ({
  metadata: { resourceVersion: "7" },
  webhooks: [...webhooks],
});
const address = { url: "https://127.0.0.1", caBundle: "AAAA" };

test("a webhook that is asked by its address is asked by our Service, and nothing of the address stays", () => {
  const webhook = { name: "a", clientConfig: address, failurePolicy: "Fail" };
  assert.deepEqual(withServices(ours, stored(webhook)), stored({ ...webhook, clientConfig: service }));
});

test("webhooks that ask a Service, that are not ours, or that are not there stay", () => {
  assert.equal(withServices(ours, undefined), undefined);
  assert.equal(withServices(ours, stored()), undefined);
  assert.equal(withServices(ours, stored({ name: "a", clientConfig: { ...service, caBundle: "AAAA" } })), undefined);
  assert.equal(withServices(ours, stored({ name: "other", clientConfig: address })), undefined);
});
