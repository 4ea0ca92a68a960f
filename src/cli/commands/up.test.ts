import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { startCommand } from "../../../test/command-line.ts";
import { eventually } from "../../../test/csi-sockets.ts";
import { realWorld } from "../../base/world.ts";
import { createClient } from "../../kube/client.ts";
import { loadConfig } from "../../kube/config.ts";
import { createTransport } from "../../kube/transport.ts";

/** The one it works in, as it names it itself: others may be at work in the same place. */
const folderIn = (text: string): string => /(\/\S*\/snapkeep-\w+)\/storage/.exec(text)?.[1] ?? assert.fail(text);

test("the tour holds at every step, says so, and leaves nothing on disk", async () => {
  const { said, code } = startCommand("up", "--exit");
  assert.equal(await code, 0, said.text);
  assert.equal(said.text.match(/✓/g)?.length, 5, said.text);
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("it stays up with a claim to take a snapshot of, and the lines that it invites to work as they are printed", async () => {
  const { said, stop, code } = startCommand("up", "--tour=false");
  await eventually("it says that it stays up", () => said.text.includes("Ctrl-C ends it"));
  const [, kubeconfig = ""] = /export KUBECONFIG=(.*)/.exec(said.text) ?? [];
  const [, file = ""] = /cat (.*)/.exec(said.text) ?? [];
  const [, object = ""] = /echo '(.*)' \| kubectl --context snapkeep apply/.exec(said.text) ?? [];
  assert.equal(readFileSync(file, "utf8"), "yours to spoil\n");
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  const client = createClient({ handler, world: realWorld });
  const { metadata } = await client.create("VolumeSnapshot", {
    ...JSON.parse(object),
    metadata: { namespace: "default", ...JSON.parse(object).metadata },
  });
  const ref = { kind: "VolumeSnapshot", namespace: "default", name: metadata.name } as const;
  await eventually("a snapshot of one's own is ready", async () => (await client.get(ref)).status?.readyToUse === true);
  close();
  stop();
  assert.equal(await code, 0, said.text);
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("Ctrl-C in the middle of the tour ends it there, and nobody is invited to what is gone", async () => {
  const { said, stop, code } = startCommand("up", "--fault", "DeleteSnapshot=Unavailable*100");
  await eventually("the tour waits at its last step", () => said.error.includes("DeleteSnapshot fails"));
  stop();
  assert.equal(await code, 1, said.text);
  assert.match(said.out, /✓ the snapshot still holds .*\n.*\n {2}interrupted before the tour was over\n$/);
  assert.ok(!existsSync(folderIn(said.text)), "its folder is still there");
});

test("Ctrl-C that came while the program was still loading is not forgotten", async () => {
  const { said, stop, code } = startCommand("up", "--exit");
  stop();
  assert.equal(await code, 1, said.text);
  assert.doesNotMatch(said.text, /✓/);
});
