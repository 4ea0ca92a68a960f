import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClaim, createSnapshot, startHarness } from "../../../test/command-harness.ts";
import { startCommand } from "../../../test/command-line.ts";
import { draftOf } from "../../api/builders.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";

const toSnapshots = { group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot" };
const fromClaimsOf = (namespace: string) => ({ group: "", kind: "PersistentVolumeClaim", namespace });

async function cluster(t: TestContext) {
  const harness = await startHarness(t);
  const { client } = harness;
  await createClaim(client);
  await createSnapshot(client, "monday");
  await client.create("CustomResourceDefinition", referenceGrantCrd());
  const grant = (name: string, from: string, to: object) =>
    client.create(
      "ReferenceGrant",
      draftOf("ReferenceGrant", { namespace: "default", name }, {
        spec: { from: [fromClaimsOf(from)], to: [to] },
      } as never),
    );
  await client.create("Namespace", draftOf("Namespace", { name: "dev" }, {} as never));
  await grant("wide", "dev", toSnapshots);
  await grant("old", "dev", { ...toSnapshots, name: "last-year" });
  return harness;
}

test("access shows the namespaces of a snapshot with their grants, and marks wildcards and grants that match nothing", async (t) => {
  const { start } = await cluster(t);
  const { code, said } = start("access", "default/monday");
  assert.equal(await code, 0, said());
  assert.match(said(), /^VolumeSnapshot default\/monday may be restored in\n {2}namespace default: its own namespace;/);
  assert.match(
    said(),
    /namespace dev: ReferenceGrant default\/wide, by a PersistentVolumeClaim, WILDCARD: every snapshot of the namespace; claims are created there by\n {4}Group system:masters/,
  );
  assert.match(said(), /any handle, by\n {4}Group system:masters \(/);
  assert.match(
    said(),
    /match nothing\n {2}ReferenceGrant default\/old: no VolumeSnapshot of namespace default matches spec\.to\n/,
  );
});

test("access -o json has the same, and --namespace is the reverse", async (t) => {
  const { start } = await cluster(t);
  const snapshot = start("access", "--namespace=default", "monday", "-o", "json");
  await snapshot.code;
  const access = JSON.parse(snapshot.said());
  assert.equal(access.snapshot, "default/monday");
  assert.deepEqual(
    access.namespaces.map(({ namespace, wildcard }: { namespace: string; wildcard: boolean }) => [namespace, wildcard]),
    [
      ["default", false],
      ["dev", true],
    ],
  );
  assert.deepEqual(
    access.grantsWithoutMatch.map(({ grant }: { grant: string }) => grant),
    ["default/old"],
  );
  const reverse = start("access", "--namespace=dev", "-o", "json");
  assert.equal(await reverse.code, 0);
  assert.deepEqual(JSON.parse(reverse.said()).snapshots, [
    { snapshot: "default/monday", way: "claim", grant: "default/wide", wildcard: true },
  ]);
});

test("a snapshot that does not exist is one line and exit code 1", async (t) => {
  const { start } = await cluster(t);
  const { code, said } = start("access", "default/never");
  assert.equal(await code, 1);
  assert.match(said(), /^snapkeep access: there is no VolumeSnapshot default\/never; .*\n$/);
});

test("access --diff prints what a change of manifests opens and closes, and exits with 1 if it opens something", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "access-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, from: string): string => {
    const path = join(folder, name);
    const spec = { from: [fromClaimsOf(from)], to: [toSnapshots] };
    writeFileSync(path, JSON.stringify({ kind: "ReferenceGrant", metadata: { name: "g", namespace: "prod" }, spec }));
    return path;
  };
  const [old, now] = [file("old.json", "test"), file("new.json", "dev")];
  const opening = (namespace: string) =>
    `namespace ${namespace} may restore every VolumeSnapshot of prod by a PersistentVolumeClaim`;
  const changed = startCommand("access", "--diff", old, now);
  assert.equal(await changed.code, 1);
  assert.ok(changed.said.out.includes(`+ ${opening("dev")}\n`), changed.said.out);
  assert.ok(changed.said.out.includes(`- ${opening("test")}\n`), changed.said.out);
  const same = startCommand("access", "--diff", old, old, "-o", "json");
  assert.deepEqual([await same.code, JSON.parse(same.said.out)], [0, { opened: [], closed: [] }]);
});

test("access --diff of a grant that now names one snapshot in place of all opens nothing, and exits with 0", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "access-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, to: object): string => {
    const path = join(folder, name);
    const spec = { from: [fromClaimsOf("dev")], to: [to] };
    writeFileSync(path, JSON.stringify({ kind: "ReferenceGrant", metadata: { name: "g", namespace: "prod" }, spec }));
    return path;
  };
  const [wide, narrow] = [file("wide.json", toSnapshots), file("narrow.json", { ...toSnapshots, name: "monday" })];
  const narrowed = startCommand("access", "--diff", wide, narrow);
  assert.equal(await narrowed.code, 0, narrowed.said.out);
  assert.match(narrowed.said.out, /^- .*every VolumeSnapshot of prod.*\n0 opened, 1 closed\n$/);
  const widened = startCommand("access", "--diff", narrow, wide);
  assert.equal(await widened.code, 1, widened.said.out);
  assert.match(widened.said.out, /^\+ .*every VolumeSnapshot of prod.*\n1 opened, 0 closed\n$/);
});

test("access without a snapshot or a namespace, and --diff with one folder, are mistakes of the command line", async () => {
  for (const words of [[], ["a", "b"], ["--diff", "a"]]) {
    const { code, said } = startCommand("access", ...words);
    assert.equal(await code, 2);
    assert.match(said.error, /; for example /);
  }
});
