/**
 * The failurePolicy that is set in the cluster: `snapkeep webhook promote` has set Fail, or an administrator Ignore while the webhook was
 * down, and an upgrade must not take that back. Pure.
 */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { claimConfigurationName, snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { at, listAt } from "./fields.ts";

const keepsPolicy: readonly string[] = [snapshotConfigurationName, claimConfigurationName];

export function withLivePolicy(object: ManifestObject, stored: JsonObject | undefined): ManifestObject {
  if (!keepsPolicy.includes(object.metadata.name)) return object;
  const policies = new Map(listAt(stored, "webhooks").map(({ name, failurePolicy }) => [name, failurePolicy]));
  return withPolicies(object, (webhook) => policies.get(webhook.name) ?? webhook.failurePolicy);
}

/** Until the API server trusts the webhook's certificate. */
export const withoutRefusals = (object: ManifestObject): ManifestObject => withPolicies(object, () => "Ignore");

function withPolicies(object: ManifestObject, policyOf: (webhook: JsonObject) => JsonObject[string]): ManifestObject {
  const webhooks = listAt(object as unknown as JsonObject, "webhooks").map((webhook) => ({
    ...webhook,
    failurePolicy: policyOf(webhook),
  }));
  return { ...object, webhooks } as ManifestObject;
}

/** Whether each webhook of a stored configuration has a caBundle. */
export function isTrusted(stored: JsonObject | undefined): boolean {
  const webhooks = listAt(stored, "webhooks");
  return webhooks.length > 0 && webhooks.every((webhook) => (at(webhook, "clientConfig", "caBundle") ?? "") !== "");
}
