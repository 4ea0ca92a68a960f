import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
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
  assert.equal(said.text.match(/✓/g)?.length, 7, said.text);
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("the demo of README is the one that runs", async () => {
  const { said, code } = startCommand("up", "--exit");
  assert.equal(await code, 0, said.text);
  const checked = (text: string) => [...text.matchAll(/^ *✓ (.*)/gm)].map(([, line = ""]) => line.replace(/ \(.*/, ""));
  assert.deepEqual(
    checked(readFileSync(resolve(import.meta.dirname, "../../../README.md"), "utf8")),
    checked(said.out),
  );
});

test("up keeps running, its printed commands take and restore a snapshot, and Ctrl-C stops it", async () => {
  const { said, stop, code } = startCommand("up", "--tour=false");
  await eventually("it says that it stays up", () => said.text.includes("Ctrl-C ends it"));
  const found = (pattern: RegExp): string => pattern.exec(said.text)?.[1] ?? assert.fail(`${pattern}: ${said.text}`);
  const kubeconfig = found(/export KUBECONFIG=(.*)/);
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  const client = createClient({ handler, world: realWorld });
  const apply = async <K extends "VolumeSnapshot" | "PersistentVolumeClaim">(kind: K, name: string) => {
    const file = found(new RegExp(`kubectl apply -f (.*/${name}\\.yaml)`));
    const { metadata, ...object } = parse(readFileSync(file, "utf8"));
    await client.create(kind, { ...object, metadata: { namespace: "default", ...metadata } });
    return { kind, namespace: "default", name };
  };
  const snapshot = await apply("VolumeSnapshot", "monday");
  assert.match(said.text, /kubectl wait --for=jsonpath='\{\.status\.readyToUse\}'=true volumesnapshot\/monday\n/);
  await eventually("the snapshot is ready", async () => (await client.get(snapshot)).status?.readyToUse === true);
  writeFileSync(found(/echo spoiled > (.*)/), "spoiled\n");
  const restored = await apply("PersistentVolumeClaim", "restored");
  assert.match(said.text, /kubectl wait --for=jsonpath='\{\.status\.phase\}'=Bound pvc\/restored\n/);
  await eventually("the claim is bound", async () => (await client.get(restored)).status?.phase === "Bound");
  const { spec } = await client.get(restored);
  const command = "$(kubectl get pvc restored -o jsonpath='{.spec.volumeName}')";
  const file = found(/cat (.*)/).replace(command, spec?.volumeName ?? "");
  assert.equal(readFileSync(file, "utf8"), "yours to spoil\n");
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
    /✓ a new claim, restored from the snapshot, has .*\n.*\n.*\n\n {2}✓ a group snapshot has .*\n.*\n.*\n {2}interrupted before the demo was complete\n\nStopped; .* is removed\.\n$/,
  );
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("Ctrl-C while the program is loading stops it", async () => {
  const { said, stop, code } = startCommand("up", "--exit");
  stop();
  assert.equal(await code, 1, said.text);
  assert.doesNotMatch(said.text, /✓/);
});
