/**
 * kubectl, unmodified, against the embedded API server and the real one: the same commands, and the same words come back.
 * Both run their scripts at the same time, so that ages are the same as well.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type ServedApi, serveApi } from "../../src/apiserver/serve/https.ts";
import { silent } from "../../src/base/log.ts";
import { realWorld } from "../../src/base/world.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { type Kubectl, runScript } from "./kubectl/compare.ts";
import { endings, preparations, scripts } from "./kubectl/scripts.ts";

let plane: ControlPlane;
let embedded: ServedApi;
let both: readonly [real: Kubectl, embedded: Kubectl];
const over = new AbortController();
let background: Promise<void> | undefined;

before(async () => {
  plane = await startControlPlane();
  embedded = await serveApi({ world: realWorld, log: silent, host: "127.0.0.1", port: 0, tokenFile: "" });
  background = embedded.run(over.signal);
  const path = join(plane.folder, "embedded.kubeconfig");
  writeFileSync(path, embedded.kubeconfig, { mode: 0o600 });
  both = [createKubectl(plane.kubeconfig), createKubectl(path)];
});
after(async () => {
  over.abort();
  await background;
  await embedded?.close();
  plane?.stop();
});

for (const script of [...preparations, ...scripts, ...endings])
  test(`kubectl: ${script.name}`, async () => {
    const [real, ours] = await Promise.all(both.map((kubectl) => runScript(kubectl, script)));
    assert.deepEqual(ours, real);
  });
