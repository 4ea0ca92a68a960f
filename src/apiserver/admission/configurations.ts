/** ValidatingWebhookConfiguration and MutatingWebhookConfiguration: defaults and what is valid. */

import { isObject, type JsonObject } from "../../base/json.ts";
import { child, duplicate, indexed, invalid, required } from "../../schema/field-error.ts";
import { label1035Problems } from "../../schema/names.ts";
import { ensure, labelSelectorErrors, oneOf, setDefault, subdomainErrors } from "../builtin/check.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { matchConditionErrors } from "./match-conditions.ts";
import type { Webhook, WebhookRule } from "./webhook.ts";
import { webhooksOf } from "./webhook.ts";

const group = "admissionregistration.k8s.io";
const reviewVersions = ["v1", "v1beta1"];
const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const timeoutSeconds = { min: 1, default: 10, max: 30 } as const;
const portMax = 65_535;

const items = (object: JsonObject, key: string): readonly JsonObject[] => {
  const list = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

const strategy = (mutating: boolean): Strategy => ({
  defaults: (object) => {
    for (const webhook of items(object, "webhooks")) setWebhookDefaults(webhook, mutating);
  },
  validateCreate: (object) => configurationErrors(object, mutating),
  validateUpdate: (object) => configurationErrors(object, mutating),
});

function setWebhookDefaults(webhook: JsonObject, mutating: boolean): void {
  setDefault(webhook, "failurePolicy", "Fail");
  setDefault(webhook, "matchPolicy", "Equivalent");
  setDefault(webhook, "namespaceSelector", {});
  setDefault(webhook, "objectSelector", {});
  setDefault(webhook, "timeoutSeconds", timeoutSeconds.default);
  if (mutating) setDefault(webhook, "reinvocationPolicy", "Never");
  for (const rule of items(webhook, "rules")) setDefault(rule, "scope", "*");
  const config = ensure(webhook, "clientConfig");
  if (isObject(config.service)) setDefault(config.service, "port", 443);
}

function configurationErrors(object: ApiObject, mutating: boolean): readonly FieldError[] {
  const names = new Set<string>();
  return webhooksOf(object).flatMap((webhook, index) => {
    const field = indexed("webhooks", index);
    const errors = [...webhookErrors(webhook, field, mutating), ...versionErrors(webhook, field)];
    if (webhook.name !== "" && names.has(webhook.name)) errors.push(duplicate(child(field, "name"), webhook.name));
    names.add(webhook.name);
    return errors;
  });
}

function webhookErrors(webhook: Webhook, field: string, mutating: boolean): readonly FieldError[] {
  const seconds = webhook.timeoutSeconds ?? timeoutSeconds.default;
  const allowed = ["None", "NoneOnDryRun"];
  return [
    ...nameErrors(webhook.name, child(field, "name")),
    ...(webhook.rules ?? []).flatMap((rule, index) => ruleErrors(rule, indexed(child(field, "rules"), index))),
    ...oneOf(child(field, "failurePolicy"), webhook.failurePolicy, ["Fail", "Ignore"]),
    ...oneOf(child(field, "matchPolicy"), webhook.matchPolicy, ["Equivalent", "Exact"]),
    ...(webhook.sideEffects === undefined || webhook.sideEffects === null
      ? [required(child(field, "sideEffects"), `must specify one of ${allowed.join(", ")}`)]
      : oneOf(child(field, "sideEffects"), webhook.sideEffects, allowed)),
    ...(seconds < timeoutSeconds.min || seconds > timeoutSeconds.max
      ? [invalid(child(field, "timeoutSeconds"), seconds, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...labelSelectorErrors(webhook.namespaceSelector ?? {}, child(field, "namespaceSelector")),
    ...labelSelectorErrors(webhook.objectSelector ?? {}, child(field, "objectSelector")),
    ...(mutating ? oneOf(child(field, "reinvocationPolicy"), webhook.reinvocationPolicy, ["IfNeeded", "Never"]) : []),
    ...clientErrors(webhook, child(field, "clientConfig")),
    ...matchConditionErrors(webhook.matchConditions ?? [], child(field, "matchConditions")),
  ];
}

function nameErrors(name: string, field: string): readonly FieldError[] {
  if (name === "") return [required(field)];
  const problems = subdomainErrors(field, name);
  if (problems.length > 0) return problems;
  return name.split(".").length < 3
    ? [invalid(field, name, "should be a domain with at least three segments separated by dots")]
    : [];
}

const alone = (field: string, list: readonly string[], what: string): readonly FieldError[] =>
  list.length > 1 && list.includes("*")
    ? [invalid(field, list, `if '*' is present, must not specify other ${what}`)]
    : [];

function ruleErrors(rule: WebhookRule, field: string): readonly FieldError[] {
  const { operations: verbs = [], apiGroups = [], apiVersions = [], resources = [] } = rule;
  const at = (name: string): string => child(field, name);
  return [
    ...(verbs.length === 0 ? [required(at("operations"))] : []),
    ...alone(at("operations"), verbs, "operations"),
    ...verbs.flatMap((verb, index) => oneOf(indexed(at("operations"), index), verb, operations)),
    ...(apiGroups.length === 0 ? [required(at("apiGroups"))] : []),
    ...alone(at("apiGroups"), apiGroups, "API groups"),
    ...(apiVersions.length === 0 ? [required(at("apiVersions"))] : []),
    ...alone(at("apiVersions"), apiVersions, "API versions"),
    ...apiVersions.flatMap((version, index) => (version === "" ? [required(indexed(at("apiVersions"), index))] : [])),
    ...resourceErrors(resources, at("resources")),
    ...oneOf(at("scope"), rule.scope, ["*", "Cluster", "Namespaced"]),
  ];
}

function resourceErrors(resources: readonly string[], field: string): readonly FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(field)] : [];
  const seen = new Set<string>();
  for (const [index, text] of resources.entries()) {
    const at = indexed(field, index);
    if (text === "") errors.push(required(at));
    const [resource = "", subresource] = text.split("/", 2);
    if (subresource === undefined) continue;
    for (const wide of [`${resource}/*`, `*/${subresource}`])
      if (seen.has(wide)) errors.push(invalid(at, text, `if '${wide}' is present, must not specify ${text}`));
    if (subresource === "*" || resource === "*") seen.add(text);
  }
  if (resources.length > 1 && resources.includes("*/*"))
    errors.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"));
  const plain = resources.filter((text) => !text.includes("/"));
  if (plain.includes("*") && plain.length > 1)
    errors.push(invalid(field, resources, "if '*' is present, must not specify other resources without subresources"));
  return errors;
}

function versionErrors({ admissionReviewVersions }: Webhook, webhook: string): readonly FieldError[] {
  const versions = admissionReviewVersions ?? [];
  const field = child(webhook, "admissionReviewVersions");
  if (versions.length === 0) return [required(field, `must specify one of ${reviewVersions.join(", ")}`)];
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) === index
      ? label1035Problems(version).map((problem) => invalid(indexed(field, index), version, problem))
      : [invalid(indexed(field, index), version, "duplicate version")],
  );
  if (!versions.some((version) => reviewVersions.includes(version)))
    errors.push(invalid(field, versions, `must include at least one of ${reviewVersions.join(", ")}`));
  return errors;
}

function clientErrors({ clientConfig }: Webhook, field: string): readonly FieldError[] {
  const { url, service } = clientConfig;
  if ((url === undefined) === (service === undefined))
    return [required(field, "exactly one of url or service is required")];
  if (url !== undefined) return urlErrors(url, child(field, "url"));
  const at = child(field, "service");
  const port = service?.port ?? 443;
  // Kubernetes names the other of the two fields when one is empty.
  return [
    ...((service?.namespace ?? "") === "" ? [required(child(at, "name"))] : []),
    ...((service?.name ?? "") === "" ? [required(child(at, "namespace"))] : []),
    ...(port >= 1 && port <= portMax
      ? []
      : [invalid(child(at, "port"), port, "port is not valid: must be between 1 and 65535, inclusive")]),
  ];
}

function urlErrors(text: string, field: string): readonly FieldError[] {
  const form = "; desired format: https://host[/path]";
  const parts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(text);
  const [, scheme = "", authority = "", , query = "", fragment = ""] = parts ?? [];
  const at = authority.lastIndexOf("@");
  const [user, host] = at === -1 ? ["", authority] : [authority.slice(0, at), authority.slice(at + 1)];
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== "https")
    errors.push(invalid(field, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === "") errors.push(invalid(field, "", `host must be specified${form}`));
  if (at !== -1) errors.push(invalid(field, user, "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(invalid(field, fragment, "fragments are not permitted in the URL"));
  if (query !== "") errors.push(invalid(field, query, "query parameters are not permitted in the URL"));
  return errors;
}

export const webhookConfigurationStrategies: Readonly<Record<string, Strategy>> = {
  [`${group}/MutatingWebhookConfiguration`]: strategy(true),
  [`${group}/ValidatingWebhookConfiguration`]: strategy(false),
};
