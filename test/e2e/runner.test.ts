/** How `npm run test:e2e` behaves on machines that lack something, and when things go wrong. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { podSupport } from "./harness/packages.ts";
import { leftOut, onlyComponents } from "./harness/prepare.ts";
import { run } from "./harness/run.ts";
import { until } from "./harness/until.ts";

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

test("without Go the run fails at once with one line that names what to install", async () => {
  const { code, stdout, stderr } = await endToEnd("test/e2e/quantity.test.ts", { PATH: folder });
  assert.equal(code, 1);
  assert.match(stderr, /^[^\n]*there is no "go" in PATH: install Go 1\.26 or newer[^\n]*\n$/);
  assert.equal(stdout, "0 passed, 1 failed, 0 skipped\n");
});

test("with an old Go the error names its version", async () => {
  const { code, stderr } = await endToEnd("test/e2e/quantity.test.ts", { PATH: pathWithGo("go1.25.9") });
  assert.equal(code, 1);
  assert.match(stderr, /^[^\n]*"go" in PATH is go1\.25\.9: install Go 1\.26 or newer[^\n]*\n$/);
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
  test(`the requirements of pods are detected when ${given}`, () => {
    const support = podSupport({ ...machine, ...on });
    const text = { ready: "ready", install: `install ${machine.missing}`, none: "" }[support.kind];
    assert.match(support.kind === "none" ? support.why : text, answer);
  });

test("without the requirements of pods their suites are counted as skipped, and with CI set as failed", () => {
  const files = ["test/e2e/a.test.ts", "test/e2e/pods/b.test.ts", "test/e2e/pods/c.test.ts"];
  assert.deepEqual(leftOut(files, "no root", false), {
    files: ["test/e2e/a.test.ts"],
    skipped: 2,
    failed: 0,
    notice: "2 pod suites not run: no root",
  });
  const { failed, skipped, notice } = leftOut(files, "no root", true);
  assert.deepEqual([failed, skipped, notice], [2, 0, "2 pod suites not run: no root (with CI set this is a failure)"]);
  assert.deepEqual(leftOut(files, undefined, true), { files, skipped: 0, failed: 0, notice: undefined });
});

test("against an older Kubernetes the suites of components run, and the others are counted as skipped", () => {
  const files = ["snapshots.test.ts", "pods/b.test.ts", "differential/c.test.ts"].map((file) => `test/e2e/${file}`);
  assert.deepEqual(onlyComponents(files, "1.33"), {
    files: ["test/e2e/snapshots.test.ts"],
    skipped: 2,
    failed: 0,
    notice: "Kubernetes 1.33: 2 suites not run, which need pods or are about the newest version",
  });
});

test("a run whose test fails ends with the counts and leaves no control plane", async () => {
  const { code, stdout } = await endToEnd("test/e2e/fixtures/failing.ts", {});
  assert.equal(code, 1);
  assert.match(stdout, /FAILED: fails[\s\S]*on purpose[\s\S]*\n0 passed, 1 failed, 0 skipped\n$/);
  const folder = /folder (\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);
  await hasNothingLeft(folder);
});

test("Ctrl-C in the middle of a test leaves no control plane", async () => {
  const child = spawn(process.execPath, ["test/run.ts", "test/e2e/fixtures/hanging.ts"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const folder = await until({ what: "the test hangs" }, () => /folder (\S+)\n/.exec(text)?.[1]);
  assert.ok(existsSync(folder));
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  await hasNothingLeft(folder);
});

async function hasNothingLeft(folder: string): Promise<void> {
  const { stdout } = await run("ps", ["-e", "-o", "args"]);
  assert.deepEqual([existsSync(folder), stdout.includes(folder)], [false, false]);
}
