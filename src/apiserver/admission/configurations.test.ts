import assert from "node:assert/strict";
import { test } from "node:test";
import { aRule, aWebhook, group } from "../../../test/admission.ts";
import { created } from "../../../test/strategy.ts";
import { claimConfiguration } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { webhookConfigurationStrategies } from "./configurations.ts";

const badConfigurations: readonly { given: string; webhook: object; says: readonly string[] }[] = [
  { given: "nothing wrong", webhook: {}, says: [] },
  {
    given: "a short name",
    webhook: { name: "short" },
    says: [
      'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
    ],
  },
  {
    given: "conditions that hold by themselves",
    webhook: { matchConditions: [{ name: "x", expression: "request.dryRun || has(object.spec)" }] },
    says: [],
  },
  {
    given: "conditions that are no conditions",
    webhook: {
      matchConditions: [
        { name: "a b", expression: "'text'" },
        { name: "", expression: " " },
        { name: "x", expression: "request.uid == ''" },
        { name: "x", expression: "true" },
      ],
    },
    says: [
      `webhooks[0].matchConditions[0].expression: Invalid value: "'text'": must evaluate to bool but got string`,
      "webhooks[0].matchConditions[0].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      "webhooks[0].matchConditions[1].expression: Required value",
      "webhooks[0].matchConditions[1].name: Required value",
      "webhooks[0].matchConditions[2].expression: Invalid value: \"request.uid == ''\": compilation failed: ERROR: <input>:1:8: undefined field 'uid'\n | request.uid == ''\n | .......^",
      'webhooks[0].matchConditions[3].name: Duplicate value: "x"',
    ],
  },
  {
    given: "a condition about what this server does not know",
    webhook: {
      matchConditions: [{ name: "x", expression: "authorizer.group('').resource('pods').check('get').allowed()" }],
    },
    says: [
      "webhooks[0].matchConditions[0].expression: Forbidden: this server does not evaluate authorizer in match conditions: use object, oldObject and request",
    ],
  },
  {
    given: "no side effects said, and no version known",
    webhook: { sideEffects: null, admissionReviewVersions: ["v2"] },
    says: [
      "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
      'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
    ],
  },
  {
    given: "plain HTTP with a query",
    webhook: { clientConfig: { url: "http://hook.test/x?y=z" } },
    says: [
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'webhooks[0].clientConfig.url: Invalid value: "y=z": query parameters are not permitted in the URL',
    ],
  },
  {
    given: "two ways to be reached",
    webhook: { clientConfig: { url: "https://x/", service: { name: "a", namespace: "b" } } },
    says: ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"],
  },
  {
    given: "an endless timeout",
    webhook: { timeoutSeconds: 31 },
    says: ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
  },
  {
    given: "a star among others",
    webhook: { rules: [{ ...aRule, operations: ["*", "CREATE"], resources: ["*", "pods"] }] },
    says: [
      `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  },
];
for (const { given, webhook, says } of badConfigurations)
  test(`a webhook configuration with ${given} is ${says.length === 0 ? "accepted" : "rejected"}`, () => {
    const outcome = created(webhookConfigurationStrategies[`${group}/ValidatingWebhookConfiguration`] ?? {}, {
      apiVersion: `${group}/v1`,
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "v" },
      webhooks: [aWebhook(webhook) as JsonObject],
    });
    assert.deepEqual(outcome.says, says);
  });

test("our own configuration for claims, with its match conditions, is accepted", () => {
  const place = { client: { url: "https://127.0.0.1:1" } };
  const strategy = webhookConfigurationStrategies[`${group}/MutatingWebhookConfiguration`] ?? {};
  assert.deepEqual(
    created(strategy, claimConfiguration(place) as JsonObject & { metadata: { name: string } }).says,
    [],
  );
});
