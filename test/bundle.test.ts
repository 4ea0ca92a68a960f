/** What a release is: what `npm run build` makes, started away from its sources. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import packageFile from "../package.json" with { type: "json" };
import { realWorld } from "../src/base/world.ts";
import { loadConfig } from "../src/kube/config.ts";
import { createTransport } from "../src/kube/transport.ts";
import { eventually, temporaryFolder } from "./csi-sockets.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "..");

async function builtIn(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  await run(process.execPath, ["scripts/build.ts", folder], { cwd: root });
  return folder;
}

async function bundleIn(t: TestContext) {
  const folder = await builtIn(t);
  const file = join(folder, "snapkeep.js");
  return (...argv: readonly string[]) =>
    run(process.execPath, [...argv.slice(0, -1), file, argv.at(-1) ?? ""], { cwd: folder });
}

test("the bundle runs on its own, and an older Node is told of in one line", async (t) => {
  const started = await bundleIn(t);
  assert.equal((await started("--version")).stdout, `snapkeep ${packageFile.version}\n`);
  const older = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.1.0" });Object.defineProperty(process, "version", { value: "v20.1.0" })`;
  await assert.rejects(started("--import", older, "--version"), ({ code, stdout, stderr }) => {
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^snapkeep: needs Node 24 or newer, and this is v20\.1\.0; .*\n$/);
    return true;
  });
});

test("a component loads no code of another", async (t) => {
  const folder = await builtIn(t);
  const parts = readdirSync(join(folder, "parts"));
  const textOf = (part: string): string => readFileSync(join(folder, "parts", part), "utf8");
  const loadedBy = (part: string, loaded = new Set<string>()): ReadonlySet<string> => {
    if (loaded.has(part)) return loaded;
    loaded.add(part);
    for (const [, next = ""] of textOf(part).matchAll(/\b(?:from|import)"\.\/([^"]+)"/g)) loadedBy(next, loaded);
    return loaded;
  };
  const first = (command: string): string => parts.find((part) => part.startsWith(`${command}-`)) ?? "";
  const words = {
    apiserver: "exceeded max depth",
    driver: "volumes cannot be kept at",
    grpc: "grpc.max_receive_message_length",
  };
  const heldBy = (command: string): readonly string[] => {
    const text = [...loadedBy(first(command))].map(textOf).join("");
    return Object.keys(words).filter((part) => text.includes(words[part as keyof typeof words]));
  };
  assert.deepEqual(heldBy("up"), ["apiserver", "driver", "grpc"]);
  assert.deepEqual(heldBy("snapshot-controller"), []);
  assert.deepEqual(heldBy("csi-snapshotter"), ["grpc"]);
  assert.deepEqual(heldBy("apiserver"), ["apiserver"]);
});

test("the bundled API server reads a YAML body", async (t) => {
  const folder = await builtIn(t);
  const kubeconfig = join(folder, "kubeconfig");
  const argv = [join(folder, "snapkeep.js"), "apiserver", "--port=0", "--kubeconfig-out", kubeconfig];
  const server = spawn(process.execPath, argv, { stdio: "ignore" });
  t.after(() => server.kill());
  await eventually("the server writes its kubeconfig", () => existsSync(kubeconfig));
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  t.after(close);
  const { status, body } = await handler({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    headers: { "content-type": "application/yaml" },
    body: "metadata:\n  name: from-yaml\ndata:\n  a: b\n",
  });
  assert.equal(status, 201, String(body));
});

test("the build names every package it has bundled, with version and licence text", async (t) => {
  const notices = readFileSync(join(await builtIn(t), "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const [name, version] of Object.entries(packageFile.dependencies))
    assert.ok(notices.includes(`\n${name} ${version}\n`), name);
  const sections = notices.split(/\n-{80}\n(?=\S+ \d)/).slice(1);
  assert.ok(sections.length >= Object.keys(packageFile.dependencies).length, `${sections.length} packages`);
  for (const section of sections)
    assert.match(section, /Copyright[\s\S]*(permission|Apache License)/i, section.slice(0, 60));
  assert.ok(packageFile.files.includes("dist"));
});

test("a package is never made without its program", () =>
  assert.equal(packageFile.scripts.prepack, packageFile.scripts.build));
