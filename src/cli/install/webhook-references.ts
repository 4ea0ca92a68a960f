/**
 * Webhook configurations that ask a Service: with failurePolicy Fail they refuse requests once the Service is gone, whoever has applied
 * them. Pure.
 */
import { isObject, type JsonObject } from "../../base/json.ts";
import { at } from "./existing.ts";

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

const webhooksOf = ({ webhooks }: JsonObject): readonly JsonObject[] =>
  Array.isArray(webhooks) ? webhooks.filter(isObject) : [];

const asks = (webhook: JsonObject, services: readonly ServiceName[]): boolean => {
  const service = at(webhook, "clientConfig", "service");
  return services.some(({ namespace, name }) => at(service, "namespace") === namespace && at(service, "name") === name);
};

export const asksService = (configuration: JsonObject, services: readonly ServiceName[]): boolean =>
  webhooksOf(configuration).some((webhook) => asks(webhook, services));

/** The configuration without the webhooks that ask one of the services; undefined: nothing else is left. */
export function withoutServices(configuration: JsonObject, services: readonly ServiceName[]): JsonObject | undefined {
  const others = webhooksOf(configuration).filter((webhook) => !asks(webhook, services));
  return others.length === 0 ? undefined : { ...configuration, webhooks: [...others] };
}

/** What is refused while the service is gone, for a person. */
export function effectOf(configuration: JsonObject, services: readonly ServiceName[]): string {
  const refusing = webhooksOf(configuration)
    .filter((webhook) => asks(webhook, services) && at(webhook, "failurePolicy") !== "Ignore")
    .flatMap(({ rules }) => (Array.isArray(rules) ? rules : []))
    .flatMap((rule) => at(rule, "resources") ?? []);
  return refusing.length === 0
    ? "its rules are not enforced"
    : `requests for ${[...new Set(refusing.map(String))].join(", ")} are refused`;
}
