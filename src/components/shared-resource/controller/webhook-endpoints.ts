/**
 * Whether the API server can reach the webhook for shares: with failurePolicy Ignore nobody else notices that it is gone. Without a
 * configuration there is nothing to reach, and nothing is wrong.
 *
 * Memory: when the event was recorded last. Lost: it is recorded once more.
 */
import { shareConfigurationName } from "../../../api/manifests/webhook-configurations.ts";
import type { CodedEvent } from "../../../api/plan.ts";
import type { KubeObject } from "../../../api/types.ts";
import { Fault, isFault } from "../../../base/fault.ts";
import { isObject, type JsonValue } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { KubeApi, PathReader } from "../../../kube/api.ts";
import { withCode } from "../../../rules/error-codes.ts";
import { limits } from "./limits.ts";

export interface EndpointCheckOptions {
  readonly api: KubeApi & PathReader;
  readonly world: World;
  readonly log: Log;
  record(about: KubeObject, event: CodedEvent): void;
  /** -1: not known, or no configuration. */
  report(endpoints: number): void;
}

export async function checkWebhook(options: EndpointCheckOptions, signal: AbortSignal): Promise<void> {
  const { world, log, record, report } = options;
  let recordedMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      const { configuration, count } = await endpointsOf(options.api, signal);
      report(count);
      if (count !== 0) recordedMs = Number.NEGATIVE_INFINITY;
      else if (configuration !== undefined && world.now() - recordedMs >= limits.webhookEventMs) {
        recordedMs = world.now();
        record(configuration, failedEvent);
      }
    } catch (reason) {
      if (signal.aborted) return;
      report(-1);
      log.debug("cannot find out whether the webhook has endpoints", { reason: Fault.from(reason).message });
    }
    await world.sleep(limits.webhookCheckMs, signal).catch(() => undefined);
  }
}

/** Reason and message of the requirement document. */
const failedEvent: CodedEvent = {
  type: "Warning",
  reason: "WebhookServerFailed",
  message: withCode(
    `Failed to launch webhook server: the Service of ${shareConfigurationName} has no ready endpoint, so the API server admits shares and pods without asking; look at the pods of the webhook`,
    "SNAP-753",
  ),
};

interface Endpoints {
  readonly configuration: KubeObject | undefined;
  readonly count: number;
}

async function endpointsOf(api: KubeApi & PathReader, signal: AbortSignal): Promise<Endpoints> {
  const ref = { kind: "ValidatingWebhookConfiguration", name: shareConfigurationName } as const;
  const configuration = await api.get(ref, { signal }).catch((reason: unknown) => {
    if (isFault(reason, "NotFound")) return undefined;
    throw reason;
  });
  const service = configuration?.webhooks?.[0]?.clientConfig.service;
  if (configuration === undefined || service === undefined) return { configuration, count: -1 };
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service.name}`);
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(service.namespace)}/endpointslices?labelSelector=${selector}`;
  return { configuration, count: readyIn(await api.getPath(path, { signal })) };
}

function readyIn(list: JsonValue): number {
  const slices = isObject(list) && Array.isArray(list.items) ? list.items : [];
  const endpoints = slices.flatMap((slice) =>
    isObject(slice) && Array.isArray(slice.endpoints) ? slice.endpoints : [],
  );
  // An endpoint that does not say so is ready.
  const isReady = (endpoint: JsonValue): boolean =>
    isObject(endpoint) && !(isObject(endpoint.conditions) && endpoint.conditions.ready === false);
  return endpoints.filter(isReady).length;
}
