/** `snapkeep/apiserver` and `snapkeep/kube` as a stranger meets them: packed, installed under node_modules, with types, and no sources. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import packageFile from "../package.json" with { type: "json" };
import { root } from "./sources.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "stranger-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const stranger = join(folder, "stranger");
const installed = join(stranger, "node_modules/snapkeep");

let installing: Promise<void> | undefined;
/** What npm packs of a package with the library in it, unpacked where npm would put it. */
function install(): Promise<void> {
  installing ??= (async () => {
    const made = join(folder, "made");
    mkdirSync(made);
    await run(process.execPath, ["scripts/build-library.ts", join(made, "lib")], { cwd: root });
    for (const name of ["package.json", "README.md", "LICENSE"]) copyFileSync(join(root, name), join(made, name));
    cpSync(join(root, "examples"), join(made, "examples"), { recursive: true });
    await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { cwd: made });
    mkdirSync(installed, { recursive: true });
    const packed = join(folder, `snapkeep-${packageFile.version}.tgz`);
    await run("tar", ["-xzf", packed, "-C", installed, "--strip-components=1"]);
    writeFileSync(join(stranger, "package.json"), JSON.stringify({ type: "module", private: true }));
  })();
  return installing;
}

const examples = readdirSync(join(root, "examples"));
for (const example of examples)
  test(`the example ${basename(example, ".mjs")} runs from the packed package`, async () => {
    await install();
    copyFileSync(join(installed, "examples", example), join(stranger, example));
    const { stdout, stderr } = await run(process.execPath, [example], { cwd: stranger });
    assert.match(stdout, /refused/);
    assert.equal(stderr, "");
  });

test("the packed package has no sources, and nothing in it needs a package at run time", async () => {
  await install();
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
  assert.deepEqual(
    files.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts")),
    [],
  );
  assert.equal("dependencies" in packageFile, false);
  assert.ok(existsSync(join(installed, "lib/THIRD-PARTY-NOTICES.txt")));
});

test("a stranger's TypeScript compiles against the types under strict rules, and a mistake in it does not", async () => {
  await install();
  for (const name of ["kubernetes-types", "@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(stranger, "node_modules", name));
  for (const example of examples) copyFileSync(join(root, "examples", example), join(stranger, example));
  writeFileSync(
    join(stranger, "right.ts"),
    `import { createApiServer, type Plugin, volumeBinder } from "snapkeep/apiserver";
import { connectToCluster, isFault } from "snapkeep/kube";
const noted: string[] = [];
const plugin: Plugin = {
  background: [() => ({ name: "note", keysFor: ({ key }) => [key], reconcile: async (key) => void noted.push(key) })],
};
export const server = createApiServer({ plugins: [plugin, volumeBinder], featureGates: { AnyVolumeDataSource: true } });
const { url }: { readonly url: string } = await server.start({ port: 0 });
const { api, close } = await connectToCluster({ environment: process.env });
const secret = await api.get({ kind: "Secret", namespace: "default", name: url }).catch((reason: unknown) => {
  if (!isFault(reason, "NotFound")) throw reason;
});
export const text: string | undefined = secret?.data?.["key"];
close();
await server.stop();
`,
  );
  writeFileSync(
    join(stranger, "wrong.ts"),
    `import { createApiServer } from "snapkeep/apiserver";
import { createClient, realWorld } from "snapkeep/kube";
const server = createApiServer({ ports: 8080 });
await createClient({ handler: server.handler, world: realWorld }).get({ kind: "Sekret", name: "x" });
`,
  );
  const compile = (...files: readonly string[]) =>
    run(
      process.execPath,
      [
        join(root, "node_modules/typescript/bin/tsc"),
        ...["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--target", "esnext"],
        ...["--lib", "esnext", "--types", "node", "--allowJs", "--checkJs", ...files],
      ],
      { cwd: stranger },
    );
  await compile("right.ts", ...examples);
  const mistakes = await compile("wrong.ts").then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
  assert.match(mistakes, /wrong\.ts\(3,\d+\): error .*'ports' does not exist/);
  assert.match(mistakes, /wrong\.ts\(4,\d+\): error .*"Sekret"/);
});

test("the door's types show nothing that only our own tests use", async () => {
  await install();
  const { stdout } = await run("grep", [
    "-c",
    "@internal\\|parseRequest",
    join(installed, "lib/types/apiserver/index.d.ts"),
  ]).catch((reason: { stdout: string }) => reason);
  assert.equal(stdout.trim(), "0");
});
