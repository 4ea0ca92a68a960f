/** A stranger's first minutes with the real kubectl: the commands that `snapkeep up` prints, then those of docs/start.md, as they stand there. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { startCommand } from "../command-line.ts";
import { eventually } from "../csi-sockets.ts";
import { tool } from "./harness/tools.ts";

const root = resolve(import.meta.dirname, "../..");
const kubectl = await tool("kubectl");
let up: ReturnType<typeof startCommand>;
let kubeconfig = "";

/** In a shell, which ends at the first command that fails. */
async function pasted(commands: string): Promise<string> {
  const env = { PATH: `${dirname(kubectl)}:${process.env.PATH}`, HOME: dirname(kubeconfig), KUBECONFIG: kubeconfig };
  const { stdout } = await promisify(execFile)("sh", ["-euc", commands], { env, cwd: root, timeout: 60_000 });
  return stdout;
}

describe("the first minutes", () => {
  before(async () => {
    up = startCommand("up");
    await eventually("it stays up", () => up.said.text.includes("Ctrl-C ends it"));
    kubeconfig = /export KUBECONFIG=(.*)/.exec(up.said.text)?.[1] ?? assert.fail(up.said.text);
  });
  after(async () => {
    up?.stop();
    await up?.code;
  });

  test("the printed commands take a snapshot, overwrite its source, and read the old file in the restored volume", async () => {
    const printed =
      /( {2}export KUBECONFIG[\s\S]*)\nCtrl-C ends it/.exec(up.said.text)?.[1] ?? assert.fail(up.said.text);
    assert.match(await pasted(printed), /\npersistentvolumeclaim\/restored condition met\nyours to spoil\n$/);
    assert.equal(await pasted(/echo spoiled > (.*)/.exec(printed)?.[1]?.replace(/^/, "cat ") ?? ""), "spoiled\n");
  });

  test("docs/start.md: the same by take, restore, get and delete, without manifests", async () => {
    const text = readFileSync(resolve(root, "docs/start.md"), "utf8");
    const [, block = ""] = /\nThe same without manifests[\s\S]*?\n```\n([\s\S]*?)```/.exec(text) ?? [];
    const said = await pasted(block);
    assert.match(said, /\/tuesday-noon ready, \S+ after \d+\.\d s\n/);
    assert.match(said, /\/from-noon bound to volume pvc-\S+ after/);
    assert.match(said, /^tuesday-noon +ready .* data +-$/m);
    assert.match(said, /\/tuesday-noon gone after \d+\.\d s\n$/);
  });

  test("docs/start.md: a claim waits for its snapshot, says so, and is bound when the snapshot is taken", async () => {
    const text = readFileSync(resolve(root, "docs/start.md"), "utf8");
    const [, section = ""] = /\n## Claims of your own\n([\s\S]*?)\n## /.exec(text) ?? [];
    const [waits, taken, ...more] = [...section.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
    assert.deepEqual(more, []);
    const says = /ProvisioningFailed .* VolumeSnapshot default\/tuesday does not exist: create it/;
    let described = await pasted(waits ?? "");
    // An event may take longer than on an idle machine.
    await eventually("the event is shown", async () => {
      const isShown = says.test(described);
      described = isShown ? described : await pasted("kubectl describe pvc from-tuesday");
      return isShown;
    });
    assert.match(await pasted(taken ?? ""), /\npersistentvolumeclaim\/from-tuesday condition met\n$/);
  });
});
