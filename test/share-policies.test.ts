/** The admission policies of shared resources, evaluated by the project's own CEL, against the rules that the webhook runs on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { shareKinds } from "../src/api/share-lists.ts";
import type { JsonObject } from "../src/base/json.ts";
import type { RuleVerdict } from "../src/rules/object-rules.ts";
import { podMakers } from "../src/rules/pod-specs.ts";
import { type AllowLists, allowListIn } from "../src/rules/share-allow-lists.ts";
import { sharePolicies, sharePolicyName, volumePolicyName } from "../src/rules/share-policies.ts";
import { judgeShare, judgeVolumes } from "../src/rules/shared-resources.ts";
import { type PolicyInput, policyFailures } from "./policy-verdict.ts";
import { makerOf, shareVolume } from "./shared-resource-objects.ts";

const policies = sharePolicies(["Deny"], "snapkeep");
const named = (name: string): JsonObject =>
  policies.find(
    ({ kind, metadata }) => kind === "ValidatingAdmissionPolicy" && (metadata as JsonObject).name === name,
  ) ?? assert.fail(name);

/** The first refusal, and the first warning: a policy names one of several. */
function agree(name: string, input: PolicyInput, verdict: RuleVerdict): void {
  const warning = verdict.ratcheted[0]?.message;
  assert.deepEqual(
    [policyFailures(named(name), input)[0], policyFailures(named(name.replace(".", "-broken-before.")), input)[0]],
    [verdict.refused[0]?.message, warning && `already broken before this change: ${warning}`],
    JSON.stringify(input),
  );
}

const data = {
  "openshift-pki": "platform:pki",
  "openshift-pki.severity": "critical",
  "openshift-odd": "platform:pki:more",
  "openshift-none": "platform",
  "openshift-spaces": " platform : pki ",
};
const list = allowListIn(data).list;
const lists: AllowLists = { SharedSecret: list, SharedConfigMap: list };
const noLists: AllowLists = { SharedSecret: new Map(), SharedConfigMap: new Map() };

/** Every name with every reference, created and changed from every other, kept and on its way out. */
function* shareChanges(field: string): Generator<{ object: JsonObject; oldObject: JsonObject | undefined }> {
  const references = [
    {},
    { namespace: "platform", name: "pki" },
    { namespace: " platform ", name: "pki " },
    { namespace: "team", name: "x" },
  ];
  const changes = references.flatMap((after) => [undefined, ...references].map((before) => ({ after, before })));
  // An update of the same spec is asked of neither.
  for (const name of [...Object.keys(data), "openshift-x", "openshift", "openshiftish", "mine"])
    for (const metadata of [{ name }, { name, deletionTimestamp: "2026-01-01T00:00:00Z" }])
      for (const { after, before } of changes.filter((change) => change.after !== change.before))
        yield {
          object: { metadata, spec: { [field]: after } },
          oldObject: before && { metadata, spec: { [field]: before } },
        };
}

for (const kind of shareKinds)
  test(`policy and webhook agree on the names of a ${kind}, with and without a list`, () => {
    let refused = 0;
    for (const [params, allowed] of [
      [{ data }, lists],
      [{}, noLists],
    ] as const)
      for (const { object, oldObject } of shareChanges(kind === "SharedSecret" ? "secretRef" : "configMapRef")) {
        const verdict = judgeShare(kind, object, oldObject, allowed);
        refused += verdict.refused.length;
        agree(sharePolicyName(kind), { object, oldObject, params }, verdict);
      }
    assert.ok(refused > 50, `only ${refused}`);
  });

test("policy and webhook agree on the volumes of all kinds that make pods", () => {
  const [one, other] = [shareVolume("pki", {}), shareVolume("keys", { readOnly: false })];
  const volumes: readonly (readonly JsonObject[])[] = [
    [],
    [shareVolume("pki", { readOnly: true })],
    [{ name: "tmp", emptyDir: {} }],
    [one],
    [{ name: "tmp", emptyDir: {} }, other],
    [other, one],
    [one, { name: "other", csi: { driver: "csi.example" } }],
  ];
  const metadata = { name: "web", namespace: "team" };
  let refused = 0;
  for (const { kind } of podMakers)
    for (const after of volumes)
      for (const before of [undefined, ...volumes]) {
        const objectWith = (given: readonly JsonObject[]): JsonObject => ({
          kind,
          metadata,
          ...makerOf(kind).make(given),
        });
        const [object, oldObject] = [objectWith(after), before && objectWith(before)];
        if (before === after) continue;
        const verdict = judgeVolumes(kind, object, oldObject);
        refused += verdict.refused.length;
        const request = { kind: { kind }, namespace: "team" };
        agree(volumePolicyName(kind) ?? "", { object, oldObject, request }, verdict);
      }
  assert.ok(refused > 300, `only ${refused}`);
});

test("every resource that the webhook is asked about has a policy", () => {
  const resources = new Set(
    policies.flatMap(({ spec }) => {
      const { matchConstraints } = spec as { matchConstraints?: { resourceRules: { resources: string[] }[] } };
      return matchConstraints?.resourceRules.flatMap((rule) => rule.resources) ?? [];
    }),
  );
  assert.deepEqual(
    [...resources].sort(),
    [...podMakers.map(({ plural }) => plural), "sharedconfigmaps", "sharedsecrets"].sort(),
  );
});
