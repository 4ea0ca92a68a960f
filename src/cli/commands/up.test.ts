import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { startCommand } from "../../../test/command-line.ts";
import { eventually } from "../../../test/csi-sockets.ts";
import { realWorld } from "../../base/world.ts";
import { createClient } from "../../kube/client.ts";
import { loadConfig } from "../../kube/config.ts";
import { createTransport } from "../../kube/transport.ts";

/** The one it works in, as it names it itself: others may be at work in the same place. */
const folderIn = (text: string): string => /(\/\S*\/snapkeep-\w+)\/storage/.exec(text)?.[1] ?? assert.fail(text);

test("every step of the demo succeeds, and nothing is left on disk", async () => {
  const { said, code } = startCommand("up", "--exit");
  assert.equal(await code, 0, said.text);
  assert.equal(said.text.match(/✓/g)?.length, 5, said.text);
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("up keeps running, its printed commands take a snapshot, and Ctrl-C stops it", async () => {
  const { said, stop, code } = startCommand("up", "--tour=false");
  await eventually("it says that it stays up", () => said.text.includes("Ctrl-C ends it"));
  const found = (pattern: RegExp): string => pattern.exec(said.text)?.[1] ?? assert.fail(`${pattern}: ${said.text}`);
  const kubeconfig = found(/export KUBECONFIG=(.*)/);
  const object = parse(readFileSync(found(/kubectl apply -f (.*)/), "utf8"));
  const file = found(/echo spoiled > (.*)/);
  const kept = found(/cat (.*)/);
  assert.match(said.text, /kubectl wait --for=jsonpath='\{\.status\.readyToUse\}'=true volumesnapshot\/monday\n/);
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  const client = createClient({ handler, world: realWorld });
  await client.create("VolumeSnapshot", { ...object, metadata: { namespace: "default", ...object.metadata } });
  const ref = { kind: "VolumeSnapshot", namespace: "default", name: "monday" } as const;
  await eventually("the snapshot is ready", async () => (await client.get(ref)).status?.readyToUse === true);
  writeFileSync(file, "spoiled\n");
  assert.deepEqual(
    globSync(kept).map((path) => readFileSync(path, "utf8")),
    ["yours to spoil\n"],
  );
  assert.equal(found(/# delete the snapshot.*\n {2}kubectl (.*)/), "delete volumesnapshot monday");
  await client.delete(ref);
  await eventually("the bytes are gone", () => globSync(kept).length === 0);
  close();
  stop();
  assert.equal(await code, 0, said.text);
  const folder = folderIn(said.text);
  assert.ok(said.out.endsWith(`\nStopped; ${folder} is removed.\n`), said.out);
  assert.ok(!existsSync(folder), "its folder is still there");
});

test("Ctrl-C during the demo ends it, and no commands are printed", async () => {
  const { said, stop, code } = startCommand("up", "--fault", "DeleteSnapshot=Unavailable*100");
  await eventually("the tour waits at its last step", () => said.error.includes("DeleteSnapshot fails"));
  stop();
  assert.equal(await code, 1, said.text);
  assert.match(
    said.out,
    /✓ the snapshot still holds .*\n.*\n {2}interrupted before the demo was complete\n\nStopped; .* is removed\.\n$/,
  );
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("Ctrl-C while the program is loading stops it", async () => {
  const { said, stop, code } = startCommand("up", "--exit");
  stop();
  assert.equal(await code, 1, said.text);
  assert.doesNotMatch(said.text, /✓/);
});
