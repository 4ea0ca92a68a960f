/**
 * Webhook configurations that ask a Service: with failurePolicy Fail they refuse requests once the Service is gone, whoever has applied
 * them. Pure.
 */
import { webhookRow } from "../../api/manifests/webhook.ts";
import {
  claimConfigurationName,
  shareConfigurationName,
  snapshotConfigurationName,
} from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { at, listAt, nameOf } from "./fields.ts";

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

function serviceOf(webhook: JsonObject): ServiceName | undefined {
  const service = at(webhook, "clientConfig", "service");
  const [namespace, name] = [at(service, "namespace"), at(service, "name")];
  return typeof namespace === "string" && typeof name === "string" ? { namespace, name } : undefined;
}

const isSame = (one: ServiceName, other: ServiceName | undefined): boolean =>
  one.namespace === other?.namespace && one.name === other.name;

const webhooksOf = (configuration: JsonObject): readonly JsonObject[] => listAt(configuration, "webhooks");

const asks = (webhook: JsonObject, services: readonly ServiceName[]): boolean =>
  services.some((service) => isSame(service, serviceOf(webhook)));

export const asksService = (configuration: JsonObject, services: readonly ServiceName[]): boolean =>
  webhooksOf(configuration).some((webhook) => asks(webhook, services));

/** The configuration without the webhooks that ask one of the services; undefined: nothing else is left. */
export function withoutServices(configuration: JsonObject, services: readonly ServiceName[]): JsonObject | undefined {
  const others = webhooksOf(configuration).filter((webhook) => !asks(webhook, services));
  return others.length === 0 ? undefined : { ...configuration, webhooks: [...others] };
}

/** For a person: what is refused while the services are gone. */
export function effectOf(configuration: JsonObject, services: readonly ServiceName[]): string {
  const refusing = webhooksOf(configuration)
    .filter((webhook) => asks(webhook, services) && webhook.failurePolicy !== "Ignore")
    .flatMap((webhook) => listAt(webhook, "rules"))
    .flatMap(({ resources }) => (Array.isArray(resources) ? resources.map(String) : []));
  return refusing.length === 0
    ? "its rules are not enforced"
    : `requests for ${[...new Set(refusing)].join(", ")} are refused`;
}

const ownConfigurations: readonly string[] = [
  snapshotConfigurationName,
  shareConfigurationName,
  claimConfigurationName,
];

/** What webhook configurations of snapkeep ask, in any namespace: by the name of the configuration, or by that of the Service. */
export function askedServices(configurations: readonly JsonObject[]): readonly ServiceName[] {
  const asked = configurations.flatMap((configuration) =>
    webhooksOf(configuration)
      .flatMap((webhook) => serviceOf(webhook) ?? [])
      .filter(({ name }) => ownConfigurations.includes(nameOf(configuration)) || name === webhookRow.service?.name),
  );
  return asked.filter((service, index) => asked.findIndex((other) => isSame(service, other)) === index);
}
