/** Where the real programs come from. */
import assert from "node:assert/strict";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { identify } from "../../src/runtime/process-identity.ts";
import { isNewEnough } from "./harness/go.ts";
import { withLock } from "./harness/lock.ts";
import { run } from "./harness/run.ts";
import { moduleFolder, modules, olderVersions, pinnedVersion } from "./harness/tools.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "tools-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** In a process of its own, because programs are looked up by its environment. */
const ask = (expression: string, env: Readonly<Record<string, string>>) =>
  run(
    process.execPath,
    ["-e", `import("./test/e2e/harness/tools.ts").then(async (m) => console.log(await ${expression}))`],
    {
      cwd: root,
      env: { KUBEBUILDER_ASSETS: "", ...env },
      msMax: 240_000,
    },
  );

test("every module folder pins the version that is stamped, and imports exactly the programs of the table", () => {
  for (const [name, module] of Object.entries(modules)) {
    assert.match(pinnedVersion(name, module.pinned), /^v\d+\.\d+\.\d+$/);
    const source = globSync("*.go", { cwd: moduleFolder(name) }).map((file) =>
      readFileSync(join(moduleFolder(name), file), "utf8"),
    );
    const imported = [...source.join("").matchAll(/_ "(.+)"/g)].map(([, path]) => path);
    const others = Object.values(module.programs).filter((path) => path !== ".");
    assert.deepEqual(imported.sort(), others.sort(), name);
  }
  const folders = globSync("*/go.mod", { cwd: moduleFolder(".") }).length;
  assert.equal(folders, Object.keys(modules).length + olderVersions().length);
});

test("an older Kubernetes has its own pinned module, with all programs of a control plane", async () => {
  assert.ok(olderVersions().length > 0);
  for (const minor of olderVersions()) {
    const version = pinnedVersion(`kubernetes-${minor}`, modules.kubernetes.pinned);
    assert.ok(version.startsWith(`v${minor}.`), version);
    const source = readFileSync(join(moduleFolder(`kubernetes-${minor}`), "tools.go"), "utf8");
    const imported = [...source.matchAll(/_ "(.+)"/g)].map(([, path]) => path);
    const { kubelet: _, ...programs } = modules.kubernetes.programs;
    assert.deepEqual(imported.sort(), Object.values(programs).sort(), minor);
  }
});

test("a version that is not pinned is refused with those that are", async () => {
  const { stdout } = await ask("m.toolProblem()", { KUBERNETES: "1.2" });
  assert.equal(
    stdout,
    `KUBERNETES=1.2 is not pinned in test/e2e/tools: name one of ${olderVersions().join(", ")}, or none for the newest\n`,
  );
});

test("KUBEBUILDER_ASSETS comes first, and its programs are not built", async () => {
  const assets = join(folder, "assets");
  mkdirSync(assets);
  for (const program of Object.values(modules).flatMap((module) => Object.keys(module.programs)))
    writeFileSync(join(assets, program), "#!/bin/sh\n", { mode: 0o755 });
  const env = { PATH: folder, KUBEBUILDER_ASSETS: assets };
  assert.equal((await ask('m.tool("etcd")', env)).stdout, `${join(assets, "etcd")}\n`);
  assert.equal((await ask("m.toolProblem()", env)).stdout, "undefined\n");
  rmSync(join(assets, "etcd"));
  assert.match((await ask('m.tool("etcd")', env)).stderr, /there is no "go" in PATH/);
});

test("built programs stay in the cache folder, and two processes build a program once", async () => {
  // Go's own cache would move along and be cold.
  const goCache = (await run("go", ["env", "GOCACHE"])).stdout.trim();
  const env = { XDG_CACHE_HOME: join(folder, "cache"), GOCACHE: goCache };
  const both = await Promise.all([ask('m.tool("etcd")', env), ask('m.tool("etcd")', env)]);
  const [path = ""] = both.map(({ stdout }) => stdout.trim());
  assert.deepEqual(
    both.map(({ code, stdout }) => [code, stdout.trim()]),
    [
      [0, path],
      [0, path],
    ],
  );
  assert.ok(path.startsWith(join(folder, "cache/snapkeep/tools/etcd-")));
  assert.equal(both.filter(({ stderr }) => stderr.includes("built etcd in")).length, 1);
  assert.deepEqual(globSync("cache/snapkeep/tools/*/{.*,*}", { cwd: folder }).length, 1, "no lock, no half-built file");
  const again = await ask('m.tool("etcd")', env);
  assert.deepEqual([again.stdout.trim(), again.stderr], [path, ""]);
});

test("a lock of an ended process is ignored", async () => {
  const path = join(folder, "lock");
  writeFileSync(path, JSON.stringify({ ...identify(process.pid), startedAt: "another boot/1" }));
  assert.equal(await withLock(path, "waiting", async () => "mine"), "mine");
});

test("only Go 1.26 and newer are accepted", () => {
  const versions = {
    "go1.26": true,
    "go1.26.8": true,
    "go1.27rc1": true,
    "go2.0": true,
    "go1.25.9": false,
    "go1.3": false,
    "": false,
  };
  for (const [version, enough] of Object.entries(versions)) assert.equal(isNewEnough(version), enough, version);
});
