/** The admission policies, evaluated by the project's own CEL, say the same as the webhook. test/e2e/admission-policies.test.ts asks the real server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionPolicies } from "../src/rules/admission-policies.ts";
import { kindRules } from "../src/rules/kind-rules.ts";
import { policiesFor, policyRows, policySubjects } from "../src/rules/policy-rows.ts";
import { classRules, contentRules, snapshotRules } from "../src/rules/snapshot-rules.ts";
import { admissionPairs } from "./admission-pairs.ts";
import { policyVerdict, webhookJudgement } from "./policy-verdict.ts";

test("policies and webhook say the same of more than 8,000 pairs of objects, in the same words", () => {
  const seen = new Set<string>();
  let count = 0;
  for (const pair of admissionPairs()) {
    const { rules, ...webhook } = webhookJudgement(pair);
    assert.deepEqual(policyVerdict(pair), webhook, JSON.stringify(pair));
    seen.add(/SNAP-\d+/.exec(webhook.refused ?? "")?.[0] ?? "");
    count += 1;
  }
  assert.ok(count > 8_000, `only ${count}`);
  for (const code of [101, 102, 103, 104, 111, 112, 113, 114, 115])
    assert.ok(seen.has(`SNAP-${code}`), `no SNAP-${code}`);
});

test("a value that is long or holds control characters is not repeated by a policy", () => {
  const snapshot = (persistentVolumeClaimName: string) => ({ spec: { source: { persistentVolumeClaimName } } });
  const pair = { kind: "VolumeSnapshot", before: snapshot("a\u001b[2J"), after: snapshot("b".repeat(254)) } as const;
  assert.match(policyVerdict(pair).refused ?? "", /was changed from another text to another text; .* \[SNAP-102\]$/);
});

test("each rule of the tables has a policy, or says why there is none", () => {
  for (const { objects, changes } of [snapshotRules, contentRules, classRules])
    for (const { code, field } of [...objects, ...changes]) {
      const row = policyRows.find((one) => one.code === code && one.field === field);
      assert.ok(row?.policy !== undefined || row?.why !== undefined, `${code} ${field}`);
    }
  for (const kind of Object.keys(kindRules).filter((name) => name !== "ReferenceGrant"))
    assert.ok(
      policyRows.some((row) => row.kind === kind),
      kind,
    );
});

test("a policy that refuses is bound with the actions that are asked for, and one that warns only warns", () => {
  const bindings = admissionPolicies(["Audit", "Warn"]).filter(
    ({ kind }) => kind === "ValidatingAdmissionPolicyBinding",
  );
  assert.deepEqual(
    bindings.map(({ metadata, spec }) => [metadata, spec].flatMap((part) => Object.values(part as object))),
    ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"].flatMap((plural) => [
      [`${plural}.storage.snapkeep.dev`, `${plural}.storage.snapkeep.dev`, ["Audit", "Warn"]],
      [`${plural}-broken-before.storage.snapkeep.dev`, `${plural}-broken-before.storage.snapkeep.dev`, ["Warn"]],
    ]),
  );
});

test("each variable has a name that the API server accepts", () => {
  const reserved = ["as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop"];
  const more = ["namespace", "package", "return", "var", "void", "while", "true", "false", "null"];
  const choice = { subjects: policySubjects, actions: ["Deny"], namespace: "snapkeep", provisioners: [] } as const;
  for (const { spec } of policiesFor(choice))
    for (const { name } of (spec as { variables?: { name: string }[] }).variables ?? []) {
      assert.match(name, /^[A-Za-z]\w*$/);
      assert.ok(![...reserved, ...more].includes(name), name);
    }
});
