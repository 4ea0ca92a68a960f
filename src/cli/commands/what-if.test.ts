import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createClaim, createSnapshot, startHarness } from "../../../test/command-harness.ts";
import { eventually } from "../../../test/csi-sockets.ts";

/** A ready snapshot, and what `what-if` asks of the API server. */
async function readySnapshot(t: TestContext) {
  const asked: string[] = [];
  const { client, start, socket } = await startHarness(t, {
    beforeRequest: async ({ method, path, headers }) => {
      if (headers["user-agent"]?.startsWith("snapkeep-what-if/")) asked.push(`${method} ${path}`);
    },
  });
  await createClaim(client);
  start("snapshot-controller", "--leader-election=false");
  start("csi-snapshotter", `--csi-address=${socket}`);
  const ref = await createSnapshot(client, "monday");
  await eventually("the snapshot is ready", async () => (await client.get(ref)).status?.readyToUse === true);
  const { status } = await client.get(ref);
  const whatIf = async (...argv: readonly string[]) => {
    const { code, said } = start("what-if", ...argv);
    return { code: await code, said: said() };
  };
  return { client, whatIf, asked, ref, content: status?.boundVolumeSnapshotContentName ?? "" };
}

test("deleting a snapshot names the data that is lost and the call that deletes it, and nothing is written", async (t) => {
  const { client, whatIf, asked, ref, content } = await readySnapshot(t);
  const { code, said } = await whatIf("delete", "vs/monday");
  assert.equal(code, 1, said);
  assert.match(said, /^delete VolumeSnapshot default\/monday: \d objects?, 1 driver call, 1 piece of data\nis lost\n/);
  assert.match(said, /^Calls to the driver\n {2}DeleteSnapshot "snapshot-/m);
  assert.deepEqual(
    asked.filter((request) => !request.startsWith("GET ")),
    [],
  );
  assert.equal((await client.get(ref)).metadata.deletionTimestamp, undefined);

  const kept = await whatIf("change", `vsc/${content}`, `--patch={"spec":{"deletionPolicy":"Retain"}}`);
  assert.equal(kept.code, 0, kept.said);
  assert.match(kept.said, /changes: spec\.deletionPolicy/);

  const json = JSON.parse((await whatIf("delete", "vs/monday", "-o", "json")).said);
  assert.deepEqual(
    [json.kind, json.calls[0].method, json.lost[0].what, json.isAtRest],
    ["WhatIf", "DeleteSnapshot", "snapshot", true],
  );
  assert.deepEqual(json.blocks, []);
});

test("what is missing or wrong is one line", async (t) => {
  const { start } = await startHarness(t);
  const says = async (...argv: readonly string[]) => {
    const { code, said } = start("what-if", ...argv);
    return `${await code} ${said()}`;
  };
  assert.match(await says(), /^2 .*say what would happen: delete, restore, delete-namespace, change; [^\n]+\n$/);
  assert.match(await says("change", "vsc/x"), /^2 .*change and --patch go together\n$/);
  assert.match(await says("restore", "x"), /^2 .*restore and --to go together; [^\n]+\n$/);
  assert.match(await says("delete", "vs/nothing"), /^1 .*there is no VolumeSnapshot default\/nothing, [^\n]+\n$/);
});
