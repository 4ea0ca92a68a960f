import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../base/json.ts";
import { askedServices, asksService, effectOf, withoutServices } from "./webhook-references.ts";

const hook = (namespace: string, name: string, more: JsonObject = {}): JsonObject => ({
  name: `${namespace}-${name}`,
  clientConfig: { service: { namespace, name } },
  ...more,
});
const byUrl: JsonObject = { name: "url", clientConfig: { url: "https://any" } };
const configuration = (name: string, ...webhooks: readonly JsonObject[]): JsonObject => ({
  metadata: { name },
  webhooks: [...webhooks],
});
const ours = { namespace: "one", name: "snapshot-validation-service" };
const rule = (...resources: readonly string[]): JsonObject => ({ rules: [{ resources: [...resources] }] });

test("a configuration asks a Service by its namespace and name", () => {
  const asks = (...webhooks: readonly JsonObject[]) => asksService(configuration("any", ...webhooks), [ours]);
  assert.ok(asks(hook("one", ours.name)));
  assert.ok(asks(byUrl, hook("one", ours.name)));
  assert.ok(!asks(hook("two", ours.name)));
  assert.ok(!asks(hook("one", "other")));
  assert.ok(!asks(byUrl));
  assert.ok(!asks());
  assert.ok(!asksService({ metadata: { name: "any" } }, [ours]));
  assert.ok(!asksService(configuration("any", hook("one", ours.name)), []));
});

test("only webhooks that ask the Services are taken out", () => {
  const others = [byUrl, hook("two", ours.name)];
  const shared = configuration("any", hook("one", ours.name), ...others);
  assert.deepEqual(withoutServices(shared, [ours]), { metadata: { name: "any" }, webhooks: others });
  assert.equal(withoutServices(configuration("any", hook("one", ours.name)), [ours]), undefined);
});

for (const [given, webhooks, effect] of [
  ["Fail", [hook("one", ours.name, { failurePolicy: "Fail", ...rule("a", "b") })], "requests for a, b are refused"],
  ["no policy, which is Fail", [hook("one", ours.name, rule("a"))], "requests for a are refused"],
  ["Ignore", [hook("one", ours.name, { failurePolicy: "Ignore", ...rule("a") })], "its rules are not enforced"],
  ["another Service", [hook("two", ours.name, rule("a"))], "its rules are not enforced"],
  ["no rules", [hook("one", ours.name)], "its rules are not enforced"],
  ["a rule without resources", [hook("one", ours.name, { rules: [{}] })], "its rules are not enforced"],
  [
    "a resource of two webhooks",
    [hook("one", ours.name, rule("a")), hook("one", ours.name, rule("a", "c"))],
    "requests for a, c are refused",
  ],
] as const)
  test(`given ${given}, then without the Service ${effect}`, () => {
    assert.equal(effectOf(configuration("any", ...webhooks), [ours]), effect);
  });

test("Services of ours are found by the name of the configuration or their own, once each", () => {
  const found = askedServices([
    configuration("webhook-validation.storage.sigs.k8s.io", hook("a", "any"), byUrl),
    configuration("validation.webhook.csidriversharedresource", hook("b", "any")),
    configuration("claim-sources.storage.snapkeep.dev", hook("c", "any"), hook("a", "any")),
    configuration("any", hook("d", ours.name), hook("e", "any")),
    configuration("other", hook("d", ours.name), hook("b", "other")),
    { metadata: { name: "any" }, webhooks: [{ clientConfig: { service: { name: ours.name } } }] },
    { metadata: { name: "any" }, webhooks: [{ clientConfig: { service: { namespace: "one" } } }] },
  ]);
  assert.deepEqual(
    found.map(({ namespace, name }) => `${namespace}/${name}`),
    ["a/any", "b/any", "c/any", `d/${ours.name}`],
  );
});
