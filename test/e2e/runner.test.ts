/** What `npm run test:e2e` says on machines that lack something. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { podSupport } from "./harness/packages.ts";
import { run } from "./harness/run.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "runner-"));
after(() => rmSync(folder, { recursive: true }));

const endToEnd = (file: string, env: Readonly<Record<string, string>>) =>
  run(process.execPath, ["test/run.ts", file], { cwd: root, env: { KUBEBUILDER_ASSETS: "", CI: "", ...env } });

function pathWithGo(version: string): string {
  const path = join(folder, version);
  mkdirSync(path);
  writeFileSync(join(path, "go"), `#!/bin/sh\necho ${version}\n`);
  chmodSync(join(path, "go"), 0o755);
  return path;
}

test("without Go it says at once, in one line, what to install, and fails", async () => {
  const { code, stdout, stderr } = await endToEnd("test/e2e/quantity.test.ts", { PATH: folder });
  assert.equal(code, 1);
  assert.match(stderr, /^[^\n]*there is no "go" in PATH: install Go 1\.26 or newer[^\n]*\n$/);
  assert.equal(stdout, "0 passed, 1 failed, 0 skipped\n");
});

test("with a Go that is too old it says which one it found", async () => {
  const { code, stderr } = await endToEnd("test/e2e/quantity.test.ts", { PATH: pathWithGo("go1.25.9") });
  assert.equal(code, 1);
  assert.match(stderr, /^[^\n]*"go" in PATH is go1\.25\.9: install Go 1\.26 or newer[^\n]*\n$/);
});

test("with KUBEBUILDER_ASSETS that hold every program, Go is not asked for", async () => {
  const { modules } = await import("./harness/tools.ts");
  const assets = join(folder, "assets");
  mkdirSync(assets);
  for (const program of Object.values(modules).flatMap((module) => Object.keys(module.programs)))
    writeFileSync(join(assets, program), "#!/bin/sh\necho from the assets\n", { mode: 0o755 });
  const answer = await run(
    process.execPath,
    [
      "-e",
      'import("./test/e2e/harness/tools.ts").then(async (m) => console.log(await m.tool("etcd"), await m.toolTrouble()))',
    ],
    { cwd: root, env: { PATH: folder, KUBEBUILDER_ASSETS: assets } },
  );
  assert.equal(answer.stdout, `${join(assets, "etcd")} undefined\n`);
});

const machine = { platform: "linux", root: true, ci: false, debian: true, missing: ["runc"] };
const cases = [
  { given: "everything is there", on: { missing: [] }, answer: /^ready$/ },
  { given: "it is not Linux", on: { platform: "darwin" }, answer: /need Linux, and this is darwin/ },
  { given: "the user is not root", on: { root: false }, answer: /need root/ },
  { given: "a package is missing on Debian", on: {}, answer: /apt-get install runc/ },
  { given: "a package is missing elsewhere", on: { debian: false }, answer: /Debian's runc/ },
  { given: "a package is missing in a pipeline on Debian", on: { ci: true }, answer: /^install runc$/ },
  { given: "a package is missing in a pipeline elsewhere", on: { ci: true, debian: false }, answer: /Debian's runc/ },
] as const;
for (const { given, on, answer } of cases)
  test(`what pods need is known when ${given}`, () => {
    const support = podSupport({ ...machine, ...on });
    const text = { ready: "ready", install: `install ${machine.missing}`, none: "" }[support.kind];
    assert.match(support.kind === "none" ? support.why : text, answer);
  });
