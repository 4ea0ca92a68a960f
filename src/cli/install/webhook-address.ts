/**
 * A stored webhook that is asked by its address where ours is asked by its Service. An apply would add the Service to the address, and the
 * API server refuses both together. Pure.
 */
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { at, listAt } from "./fields.ts";

/** The stored configuration with our Services in place of addresses; undefined: it has none. */
export function withServices(object: ManifestObject, stored: JsonObject | undefined): JsonObject | undefined {
  const wanted = new Map(listAt(object as unknown as JsonObject, "webhooks").map((webhook) => [webhook.name, webhook]));
  const isAddress = (webhook: JsonObject): boolean =>
    at(webhook, "clientConfig", "url") !== undefined &&
    at(wanted.get(webhook.name), "clientConfig", "service") !== undefined;
  const webhooks = listAt(stored, "webhooks");
  if (stored === undefined || !webhooks.some(isAddress)) return undefined;
  return {
    ...stored,
    webhooks: webhooks.map((webhook) =>
      isAddress(webhook) ? { ...webhook, clientConfig: at(wanted.get(webhook.name), "clientConfig") ?? {} } : webhook,
    ),
  };
}
