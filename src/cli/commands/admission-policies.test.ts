import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { startCommand } from "../../../test/command-line.ts";
import { admissionPolicies } from "../../rules/admission-policies.ts";

async function policies(...words: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  const { code, said } = startCommand("admission-policies", ...words);
  return { code: await code, ...said };
}

test("--print writes policies and bindings as documents that kubectl can apply", async () => {
  const { code, out } = await policies("--print");
  assert.equal(code, 0);
  const printed = parseAllDocuments(out).map((document) => document.toJS());
  assert.deepEqual(printed, JSON.parse(JSON.stringify(admissionPolicies(["Deny"]))));
});

test("--actions=Audit,Warn binds the policies without refusing anything", async () => {
  const { out } = await policies("--print", "--actions=Audit,Warn", "-o", "json");
  const list = JSON.parse(out) as { items: { spec: { validationActions?: string[] } }[] };
  const actions = list.items.flatMap(({ spec }) => spec.validationActions ?? []);
  assert.ok(actions.includes("Audit") && actions.includes("Warn") && !actions.includes("Deny"));
});

test("without --print each rule is listed, with its policy or why there is none", async () => {
  const { out } = await policies();
  assert.match(out, /SNAP-101 {2}VolumeSnapshot {2}spec\.source\n {4}volumesnapshots\.storage\.snapkeep\.dev\n/);
  assert.match(out, /SNAP-121 {2}VolumeSnapshotClass .*\n {4}no policy: .*webhook/);
});

for (const [given, says] of [
  ["--actions=Refuse", /--actions: "Refuse"; expected some of Deny, Warn, Audit/],
  ["--actions=Deny,Warn", /exclude each other/],
] as const)
  test(`${given} is one error line and exit code 2`, async () => {
    const { code, error } = await policies("--print", given);
    assert.equal(code, 2);
    assert.match(error, says);
    assert.equal(error.trim().split("\n").length, 1);
  });
