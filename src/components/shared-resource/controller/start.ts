/** The controller from its context: the shares, the allow-lists, and the endpoints of the webhook. */
import { unsyncedIn } from "../../../kube/stores.ts";
import type { ComponentContext } from "../../../runtime/component.ts";
import type { Component } from "../../../runtime/frame.ts";
import { createAllowListReader } from "../../../runtime/share-allow-lists.ts";
import type { SharedResourceConfig } from "../config.ts";
import { createShareController, type ShareControllerDeps } from "./index.ts";
import { shareControllerMetrics } from "./metrics.ts";
import { checkWebhook, type WebhookReport } from "./webhook-endpoints.ts";

export interface ShareControllerOptions {
  readonly config: Pick<SharedResourceConfig, "shareRelistIntervalMs">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The ConfigMaps with the allow-lists are here. */
  readonly allowListNamespace: string;
}

export async function startController(
  context: ComponentContext,
  { config, environment, allowListNamespace }: ShareControllerOptions,
  { plan }: Pick<ShareControllerDeps, "plan"> = {},
): Promise<Component> {
  const { api, world, log, metrics } = context;
  const instruments = metrics.instruments(shareControllerMetrics);
  const record = context.recordAs("shared-resource-controller");
  const reader = createAllowListReader({
    world,
    log,
    environment,
    namespace: allowListNamespace,
    connect: async () => ({ api }),
  });
  const controller = createShareController({
    ...context,
    record,
    instruments,
    plan,
    relistMs: config.shareRelistIntervalMs,
    lists: () => (reader.isRead() ? reader.current() : undefined),
  });
  const readLists = async (signal: AbortSignal): Promise<void> => {
    await reader.read(signal);
    if (reader.isRead()) controller.listsRead();
  };
  metrics.refresh(() => {
    const { info, warning, critical } = controller.bySeverity();
    instruments.invalidInfo.set({}, info);
    instruments.invalidWarning.set({}, warning);
    instruments.invalidCritical.set({}, critical);
    instruments.secrets.set({}, controller.stores.SharedSecret.size());
    instruments.configMaps.set({}, controller.stores.SharedConfigMap.size());
  });
  const report = ({ endpoints, trusted }: WebhookReport): void => {
    instruments.webhookEndpoints.set({}, endpoints);
    instruments.webhookTrusted.set({}, trusted);
  };
  report({ endpoints: -1, trusted: -1 });
  return {
    leaseName: "shared-resource-controller-leader",
    watch: async (signal) => void (await Promise.all([controller.watch(signal), readLists(signal)])),
    run: async (signal) =>
      void (await Promise.all([controller.run(signal), checkWebhook({ api, world, log, record, report }, signal)])),
    ready: () => unsyncedIn(controller.stores),
  };
}
