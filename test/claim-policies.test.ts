/** What the mutating admission policy notes of a claim, evaluated by the project's own CEL, against the rules that the webhook runs on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../src/base/json.ts";
import { claimPolicies } from "../src/rules/claim-policies.ts";
import { claimSourceViolations } from "../src/rules/claim-sources.ts";
import { claimSourceTable, configMapSource, customSource, snapshotSource } from "./claim-source-table.ts";
import { policyFailures } from "./policy-verdict.ts";

const policies = claimPolicies(["Deny"]);
const [mutating = {}, validating = {}] = ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"].map((wanted) =>
  policies.find(({ kind }) => kind === wanted),
);
/** What the policy notes, as if it were a refusal. */
const noting: JsonObject = {
  spec: {
    ...(mutating.spec as JsonObject),
    validations: [{ expression: "variables.problem == ''", messageExpression: "variables.problem" }],
  },
};

const more = [
  { dataSource: { ...snapshotSource, apiGroup: `${"g".repeat(300)}/v1` } },
  { dataSource: { kind: "Con\u001bfig", name: "x" } },
  { dataSource: customSource, dataSourceRef: configMapSource },
];

test("the policy notes what the webhook refuses, in its words, but for the namespace of a source", () => {
  const gates = { anyVolumeDataSource: true, crossNamespace: true };
  for (const { given, sources } of claimSourceTable) {
    const claim: JsonObject = { metadata: { name: "data" }, spec: sources };
    const [refusal] = claimSourceViolations(claim, undefined, gates);
    assert.deepEqual(policyFailures(noting, { object: claim })[0], refusal?.message, given);
  }
  for (const sources of more) {
    const claim: JsonObject = { metadata: { name: "data" }, spec: sources };
    const [refusal] = claimSourceViolations(claim, undefined, gates);
    const [found = ""] = policyFailures(noting, { object: claim });
    assert.equal(found.replace(/^.*\[/, ""), refusal?.message.replace(/^.*\[/s, ""));
    assert.ok(!found.includes("\u001b") && !found.includes("g".repeat(300)), found);
  }
});

test("a claim with a note is refused, and one whose source lost its namespace", () => {
  const claim = (annotations: JsonObject, spec: JsonObject = {}): JsonObject => ({ metadata: { annotations }, spec });
  const judge = (object: JsonObject) => policyFailures(validating, { object });
  assert.deepEqual(judge(claim({})), []);
  assert.deepEqual(judge(claim({ "snapkeep.dev/dropped-data-source": "why [SNAP-131]" })), ["why [SNAP-131]"]);
  const elsewhere = { "snapkeep.dev/data-source-namespace": "other" };
  assert.match(judge(claim(elsewhere))[0] ?? "", /^spec\.dataSourceRef\.namespace: is "other", but .* \[SNAP-134\]$/);
  assert.deepEqual(judge(claim(elsewhere, { dataSourceRef: { namespace: "other" } })), []);
});
