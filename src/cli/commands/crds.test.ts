import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { startCommand } from "../../../test/command-line.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import { sharedResourceCrds } from "../../api/crds/shared-resource.ts";

async function crds(...words: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  const { code, said } = startCommand("crds", ...words);
  return { code: await code, ...said };
}

test("the CRDs are printed as YAML documents that kubectl can apply", async () => {
  const { code, out } = await crds("--phase", "3");
  assert.equal(code, 0);
  const printed = parseAllDocuments(out).map((document) => document.toJS());
  assert.deepEqual(printed, JSON.parse(JSON.stringify(snapshotCrds(3))));
});

test("-o json prints one List", async () => {
  const { out } = await crds("-o", "json", "--phase=1");
  const list = JSON.parse(out) as { kind: string; items: { spec: { versions: { name: string }[] } }[] };
  assert.equal(list.kind, "List");
  assert.deepEqual(
    list.items.map(({ spec }) => spec.versions.map(({ name }) => name)),
    [["v1beta1"], ["v1beta1"], ["v1beta1"]],
  );
});

test("an unknown --phase is one error line and exit code 2", async () => {
  const { code, error } = await crds("--phase=4");
  assert.equal(code, 2);
  assert.match(error, /--phase.*"4".*one of 1, 2, 3/);
  assert.equal(error.trim().split("\n").length, 1);
});

test("R56: --for shared-resources prints SharedSecret and SharedConfigMap, as v1alpha1 with a status subresource", async () => {
  const { code, out } = await crds("--for", "shared-resources");
  assert.equal(code, 0);
  const printed = parseAllDocuments(out).map((document) => document.toJS());
  assert.deepEqual(printed, JSON.parse(JSON.stringify(sharedResourceCrds())));
  for (const { spec } of printed as { spec: { versions: { name: string; subresources: unknown }[] } }[])
    assert.deepEqual(
      spec.versions.map(({ name, subresources }) => [name, subresources]),
      [["v1alpha1", { status: {} }]],
    );
});

test("--for cross-namespace prints everything that a restore across namespaces needs", async () => {
  const { code, out } = await crds("--for", "cross-namespace");
  assert.equal(code, 0);
  assert.deepEqual(
    parseAllDocuments(out).map(
      (document) => (document.toJS() as { spec: { names: { kind: string } } }).spec.names.kind,
    ),
    ["ReferenceGrant", "VolumeSnapshotLink", "VolumePopulator"],
  );
});
