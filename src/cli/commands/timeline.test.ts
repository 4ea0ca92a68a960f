import assert from "node:assert/strict";
import { test } from "node:test";
import { createClaim, createSnapshot, startHarness } from "../../../test/command-harness.ts";
import { eventually } from "../../../test/csi-sockets.ts";

test("a snapshot that controller and sidecar have taken has all its steps, as text, JSON and SVG", async (t) => {
  const { client, start, socket } = await startHarness(t);
  await createClaim(client);
  start("snapshot-controller", "--leader-election=false");
  start("csi-snapshotter", `--csi-address=${socket}`);
  const ref = await createSnapshot(client, "monday");
  await eventually("the snapshot is ready", async () => (await client.get(ref)).status?.readyToUse === true);
  const printed = async (output: string): Promise<string> => {
    const { code, said } = start("timeline", "vs/monday", "-o", output);
    assert.equal(await code, 0, said());
    return said();
  };
  assert.match(await printed("text"), /^VolumeSnapshot default\/monday, from [^\n]+\n\n(.*\n)+\nWhose time: /);
  const { moments, kind } = JSON.parse(await printed("json"));
  assert.equal(kind, "Timeline");
  assert.deepEqual(moments.map(({ code }: { code: string }) => code).toSorted(), [
    "contentCreated",
    "ready",
    "reported",
    "requested",
    "taken",
  ]);
  assert.match(await printed("svg"), /^<svg [^\n]*\n(.*\n)+<\/svg>\n$/);
});

test("an object that does not exist, and a kind without a timeline, are one line each", async (t) => {
  const { start } = await startHarness(t);
  const missing = start("timeline", "vs/nothing");
  assert.equal(await missing.code, 1);
  assert.match(
    missing.said(),
    /^snapkeep timeline: there is no VolumeSnapshot default\/nothing, or you may not read it; [^\n]+\n$/,
  );
  const unknown = start("timeline", "sharedsecret/x");
  assert.equal(await unknown.code, 2);
});
