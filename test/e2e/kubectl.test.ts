/**
 * kubectl, unmodified, against the embedded API server and the real one: the same commands, and the same words come back.
 * Both run their scripts at the same time, so that ages are the same as well.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type EmbeddedServer, startEmbeddedServer } from "./harness/embedded.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { type Kubectl, runScript } from "./kubectl/compare.ts";
import { creations } from "./kubectl/creations.ts";
import { moreScripts } from "./kubectl/more-scripts.ts";
import { endings, preparations, scripts } from "./kubectl/scripts.ts";
import { showing } from "./kubectl/showing.ts";

let plane: ControlPlane;
let embedded: EmbeddedServer;
let both: readonly [real: Kubectl, embedded: Kubectl];

describe("kubectl on both servers", () => {
  before(async () => {
    plane = await startControlPlane();
    embedded = await startEmbeddedServer();
    both = [createKubectl(plane.kubeconfig), createKubectl(embedded.kubeconfig)];
  });
  after(() => {
    embedded?.stop();
    plane?.stop();
  });

  for (const script of [...preparations, ...scripts, ...moreScripts, ...creations, ...showing, ...endings])
    test(`kubectl: ${script.name}`, async () => {
      const [real, ours] = await Promise.all(both.map((kubectl) => runScript(kubectl, script)));
      assert.deepEqual(ours, real);
    });

  test("kubectl: every kind of api-resources is shown as the real server shows it", async () => {
    const [real, ours] = await Promise.all(
      both.map(async (kubectl) => {
        const { stdout } = await kubectl(["api-resources", "-o", "wide", "--no-headers"], {});
        return stdout.split("\n").map((line) => line.replace(/ +/g, " ").trim());
      }),
    );
    assert.ok((ours?.length ?? 0) > 30);
    assert.deepEqual(
      ours?.filter((line) => !real?.includes(line)),
      [],
    );
  });
});
