import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/csi-sockets.ts";
import { realWorld } from "../base/world.ts";
import { type Owner, thisProcess } from "./owner.ts";
import { openRunFolder } from "./run-folder.ts";

const gone: Owner = { ...thisProcess(), startedAt: "another boot/1" };

function harness(t: Parameters<typeof temporaryFolder>[0]) {
  const parent = temporaryFolder(t);
  const warnings: string[] = [];
  const put = (name: string, note: unknown): void => {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, "kubeconfig"), "a token");
    if (note !== undefined) writeFileSync(join(parent, name, "run.json"), JSON.stringify(note));
  };
  const open = () => openRunFolder({ world: realWorld, parent, warn: (line) => warnings.push(line) });
  return { parent, warnings, put, open };
}

test("a start removes folders of ended processes, and only those", async (t) => {
  const { parent, warnings, put, open } = harness(t);
  put("snapkeep-gone", { owner: gone, kubeconfigs: [] });
  put("snapkeep-alive", { owner: thisProcess(), kubeconfigs: [] });
  put("snapkeep-far", { owner: { ...gone, host: "another-machine" }, kubeconfigs: [] });
  put("snapkeep-container", { owner: { ...gone, namespace: "pid:[2]" }, kubeconfigs: [] });
  put("snapkeep-unknown", undefined);
  put("snapkeep-strange", { owner: { pid: gone.pid } });
  put("others", { owner: gone, kubeconfigs: [] });
  symlinkSync(join(parent, "others"), join(parent, "snapkeep-link"));
  const { path, remove } = await open();
  const left = readdirSync(parent).filter((name) => join(parent, name) !== path);
  assert.deepEqual(
    left.sort(),
    ["others", ...["alive", "container", "far", "link", "strange", "unknown"].map((name) => `snapkeep-${name}`)].sort(),
  );
  await remove();
  assert.deepEqual([existsSync(path), warnings], [false, []]);
});

test("a folder is kept while entries in a kubeconfig cannot be removed, with a warning that names both", async (t) => {
  const { parent, warnings, put, open } = harness(t);
  const kubeconfig = join(parent, "config");
  writeFileSync(kubeconfig, "clusters: [");
  put("snapkeep-gone", { owner: gone, kubeconfigs: [kubeconfig] });
  await (await open()).remove();
  assert.deepEqual(readdirSync(parent).sort(), ["config", "snapkeep-gone"]);
  assert.match(
    warnings.join(),
    /snapkeep-gone of a killed run stays: the kubeconfig .*config cannot be changed: line 1 /,
  );
  assert.equal(readFileSync(kubeconfig, "utf8"), "clusters: [");
  writeFileSync(kubeconfig, "clusters: []\n");
  await (await open()).remove();
  assert.deepEqual(readdirSync(parent), ["config"]);
});

test("a folder with a remaining kubeconfig entry stays for the next start", async (t) => {
  const { parent, open } = harness(t);
  const folder = await open();
  await folder.noteKubeconfig(join(parent, "config"));
  await folder.remove();
  assert.ok(existsSync(folder.path));
  await folder.noteKubeconfig(undefined);
  await folder.remove();
  assert.equal(existsSync(folder.path), false);
});

test("an unusable temporary folder is an error with a remedy", (t) =>
  assert.rejects(
    openRunFolder({ world: realWorld, parent: join(temporaryFolder(t), "nowhere"), warn: () => undefined }),
    /^Fault: nothing can be kept in .*nowhere: there is no such file or folder; set TMPDIR$/,
  ));
