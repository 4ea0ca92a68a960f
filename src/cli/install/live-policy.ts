/** The failurePolicy that is set in the cluster: `snapkeep webhook promote` has set Fail, and an upgrade must not take that back. Pure. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { listAt } from "./fields.ts";

export function withLivePolicy(object: ManifestObject, stored: JsonObject | undefined): ManifestObject {
  if (object.metadata.name !== snapshotConfigurationName) return object;
  const policies = new Map(listAt(stored, "webhooks").map(({ name, failurePolicy }) => [name, failurePolicy]));
  const webhooks = listAt(object as unknown as JsonObject, "webhooks").map((webhook) => ({
    ...webhook,
    failurePolicy: policies.get(webhook.name) ?? webhook.failurePolicy,
  }));
  return { ...object, webhooks } as ManifestObject;
}
