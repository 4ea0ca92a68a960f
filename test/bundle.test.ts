/** What a release is: what `npm run build` makes, started away from its sources. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import packageFile from "../package.json" with { type: "json" };
import { realWorld } from "../src/base/world.ts";
import { loadConfig } from "../src/kube/config.ts";
import { createTransport } from "../src/kube/transport.ts";
import { eventually, temporaryFolder } from "./csi-sockets.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "..");

let building: Promise<string> | undefined;

/** One build for all tests of this file. */
function built(): Promise<string> {
  building ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "sk-"));
    await run(process.execPath, ["scripts/build.ts", folder], { cwd: root });
    return folder;
  })();
  return building;
}
after(async () => rmSync(await built(), { recursive: true, force: true }));

test("the bundle runs from any folder and through a link, and an older Node prints one line with the command to run", async () => {
  const folder = await built();
  const file = join(folder, "snapkeep.js");
  const link = join(folder, "a link");
  symlinkSync(file, link);
  for (const path of [file, link])
    assert.equal((await run(process.execPath, [path, "--version"])).stdout, `snapkeep ${packageFile.version}\n`);
  const older = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.1.0" });Object.defineProperty(process, "version", { value: "v20.1.0" })`;
  const argv = ["--import", older, file, "up", "--fault", "CreateSnapshot=Unavailable*2", "it's"];
  await assert.rejects(run(process.execPath, argv, { cwd: folder }), ({ code, stdout, stderr }) => {
    const command = `npx --yes --package=node@24 -- node ${file} up --fault 'CreateSnapshot=Unavailable*2' 'it'\\''s'`;
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 1, stdout: "", stderr: `snapkeep: needs Node 24 or newer, and this is v20.1.0; run: ${command}\n` },
    );
    return true;
  });
});

test("the bundle needs only Node at run time: all packages are bundled, none is a dependency", async () => {
  const folder = join(await built(), "parts");
  const texts = readdirSync(folder).map((part) => readFileSync(join(folder, part), "utf8"));
  const asked = texts.flatMap((text) =>
    [...text.matchAll(/(?:\bfrom|\bimport|\brequire\()"([@a-z][\w@/.:-]*)"/g)].map(([, name = ""]) => name),
  );
  const foreign = [...new Set(asked)].filter((name) => !isBuiltin(name));
  assert.deepEqual(foreign, []);
  assert.equal("dependencies" in packageFile, false);
  const [major] = packageFile.devDependencies.node.split(".");
  assert.equal(packageFile.engines.node, `>=${major}`);
});

test("a component loads no code of another", async () => {
  const folder = await built();
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
  const kubeconfig = join(temporaryFolder(t), "kubeconfig");
  const argv = [join(await built(), "snapkeep.js"), "apiserver", "--port=0", "--kubeconfig-out", kubeconfig];
  const server = spawn(process.execPath, argv, { stdio: "ignore" });
  t.after(async () => {
    server.kill();
    await once(server, "exit");
  });
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

test("the build names every package it has bundled, with version and licence text", async () => {
  const notices = readFileSync(join(await built(), "THIRD-PARTY-NOTICES.txt"), "utf8");
  const names = ["@bufbuild/protobuf", "@grpc/grpc-js", "prom-client", "re2js", "yaml"] as const;
  for (const name of names) assert.ok(notices.includes(`\n${name} ${packageFile.devDependencies[name]}\n`), name);
  const sections = notices.split(/\n-{80}\n(?=\S+ \d)/).slice(1);
  assert.ok(sections.length >= names.length, `${sections.length} packages`);
  for (const section of sections)
    assert.match(section, /Copyright[\s\S]*(permission|Apache License)/i, section.slice(0, 60));
  assert.ok(packageFile.files.includes("dist"));
});

test("npm pack always builds the program and the library first", () => {
  const { prepack, build, "build:library": library } = packageFile.scripts;
  const programs = (line: string) => line.match(/scripts\/build[\w-]*\.ts/g);
  assert.deepEqual(programs(prepack), [...(programs(build) ?? []), ...(programs(library) ?? [])]);
});

test("the bill of materials names exactly the packages whose code is in the bundle", async () => {
  const { build } = await import("esbuild");
  const { metafile } = await build({
    entryPoints: [join(root, "src/main.ts")],
    outdir: "unwritten",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minifySyntax: true,
    platform: "node",
    target: "node24",
    format: "esm",
    external: ["@grpc/proto-loader"],
    absWorkingDir: root,
    logLevel: "silent",
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const expected = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return `${name} ${version}`;
  });
  const sbom = JSON.parse(readFileSync(join(await built(), "sbom.spdx.json"), "utf8")) as {
    readonly spdxVersion: string;
    readonly packages: readonly { readonly name: string; readonly versionInfo: string; readonly SPDXID: string }[];
  };
  assert.equal(sbom.spdxVersion, "SPDX-2.3");
  const [own, ...parts] = sbom.packages;
  assert.deepEqual([own?.name, own?.versionInfo], ["snapkeep", packageFile.version]);
  assert.deepEqual(parts.map(({ name, versionInfo }) => `${name} ${versionInfo}`).sort(), expected.sort());
  assert.equal(new Set(sbom.packages.map(({ SPDXID }) => SPDXID)).size, sbom.packages.length);
});
