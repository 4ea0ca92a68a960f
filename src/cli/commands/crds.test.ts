import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { snapshotCrds } from "../../api/crds/index.ts";
import { realWorld } from "../../base/world.ts";
import { commands } from "../commands.ts";
import { runCommandLine } from "../run.ts";

async function crds(...words: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  const said = { out: "", error: "" };
  const writer = (to: "out" | "error") => ({
    write: (text: string) => {
      said[to] += text;
    },
  });
  const context = {
    environment: {},
    signal: AbortSignal.abort(),
    world: realWorld,
    out: writer("out"),
    error: writer("error"),
    version: "0",
  };
  return { code: await runCommandLine(commands, ["crds", ...words], context), ...said };
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

test("a phase that does not exist is one line and exit code 2", async () => {
  const { code, error } = await crds("--phase=4");
  assert.equal(code, 2);
  assert.match(error, /--phase.*"4".*one of 1, 2, 3/);
  assert.equal(error.trim().split("\n").length, 1);
});
