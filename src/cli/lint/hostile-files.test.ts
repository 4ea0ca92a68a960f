/** What somebody may put into a pull request to disturb whoever lints it, by hand or in CI. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startCommand } from "../../../test/command-line.ts";
import { temporaryFolder } from "../../../test/csi-sockets.ts";

const run = async (...argv: readonly string[]) => {
  const { said, code } = startCommand(...argv);
  return { code: await code, ...said };
};

const hostileName =
  "x\n::error file=a.yaml,line=1::fake\n##[error]fake ##vso[task.setvariable]\u001b[2J\u009b2J\r\u202e";
const hostile = JSON.stringify({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name: hostileName, namespace: hostileName },
  spec: { source: {}, volumeSnapshotClassName: 5 },
});

/** No control character but the line break, and no line or text that a CI job takes for a command. */
function assertHarmless(text: string, of: string): void {
  assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, of);
  assert.doesNotMatch(text, /##(\[|vso\[)/, of);
  for (const line of text.split("\n")) assert.doesNotMatch(line, /^\s*::/, `${of}: ${line}`);
}

test("no name, field or file makes lint print a line or a control character of its own", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "a\n::error::fake\u001b[2J.yaml");
  writeFileSync(file, hostile);
  const text = await run("lint", folder);
  assert.equal(text.code, 1);
  assertHarmless(text.out, "text");
  assert.match(text.out, /\\u001b\[2J/);
  for (const format of ["json", "sarif"]) {
    const { out } = await run("lint", "-o", format, folder);
    assertHarmless(out, format);
    assert.ok(JSON.stringify(JSON.parse(out)).includes(JSON.stringify(hostileName).slice(1, -1)), format);
  }
  const { out } = await run("lint", "-o", "github", folder);
  assert.doesNotMatch(out, /(?!\n)[\p{Cc}\p{Cf}]/u);
  for (const line of out.trimEnd().split("\n")) assert.match(line, /^::error file=[^:]*,line=1,title=SNAP-\d+::/);
});

test("a file name that is a command of CI stands in no line's beginning", async (t) => {
  const folder = temporaryFolder(t);
  const name = "::error file=a::fake.yaml";
  writeFileSync(join(folder, name), hostile);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  assertHarmless((await run("lint", name)).out, "text");
});

test("an unknown file or revision with a hostile name is one harmless line", async () => {
  for (const argv of [["/none\n::error::x\u001b[2J"], ["--old=none\n::error::x\u001b[2J", "package.json"]]) {
    const { code, error } = await run("lint", ...argv);
    assert.equal(code, 1);
    assertHarmless(error, argv.join(" "));
    assert.equal(error.trimEnd().split("\n").length, 1, error);
  }
});

test("access --diff prints names of manifests harmlessly", async (t) => {
  const [old, now] = [temporaryFolder(t), temporaryFolder(t)];
  const grant = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "ReferenceGrant",
    metadata: { name: hostileName, namespace: hostileName },
    spec: {
      from: [{ group: "", kind: "PersistentVolumeClaim", namespace: hostileName }],
      to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot" }],
    },
  };
  writeFileSync(join(now, "g.json"), JSON.stringify(grant));
  const { out } = await run("access", "--diff", old, now);
  assertHarmless(out, "diff");
  assert.match(out, /^\+ .*\\n/);
});

test("a pipe, a device, a folder or a dead link in the place of a file is a finding, and the rest is judged", {
  timeout: 30_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  execFileSync("mkfifo", [join(folder, "a-pipe.yaml")]);
  symlinkSync("/dev/zero", join(folder, "b-device.yaml"));
  mkdirSync(join(folder, "elsewhere"));
  symlinkSync("elsewhere", join(folder, "c-folder.yaml"));
  symlinkSync("nowhere", join(folder, "d-dead.yaml"));
  symlinkSync("e-circle.yaml", join(folder, "e-circle.yaml"));
  writeFileSync(join(folder, "z.json"), hostile);
  const { code, out, error } = await run("lint", folder);
  assert.equal(code, 1, error);
  for (const name of ["a-pipe", "b-device", "c-folder", "d-dead", "e-circle"])
    assert.match(out, new RegExp(`/${name}\\.yaml:1: error: cannot be read: .*\\[SNAP-192\\]`), name);
  assert.match(out, /z\.json:1: error: .*\[SNAP-101\]/);
});

test("a document that explodes is a finding with file and line, and the rest is judged", async (t) => {
  const folder = temporaryFolder(t);
  const level = (name: string, of: string): string => `${name}: &${name} [${Array(9).fill(`*${of}`).join(",")}]\n`;
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${level("b", "a")}${level("c", "b")}${level("d", "c")}${level("e", "d")}${level("f", "e")}`;
  writeFileSync(join(folder, "bomb.yaml"), `kind: First\n---\n${bomb}`);
  writeFileSync(join(folder, "deep.json"), "[".repeat(100_000));
  writeFileSync(join(folder, "z.json"), hostile);
  const { code, out, error } = await run("lint", folder);
  assert.equal(code, 1, error);
  assert.match(out, /bomb\.yaml:2: error: cannot be read: .*alias.*\[SNAP-192\]/i);
  assert.match(out, /deep\.json:1: error: .*\[SNAP-192\]/);
  assert.match(out, /z\.json:1: error: .*\[SNAP-101\]/);
});

test("what the shell passes for <(command) is read", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "x.json"), hostile);
  const program = join(import.meta.dirname, "../../main.ts");
  const script = `"${process.execPath}" "${program}" lint <(cat "${join(folder, "x.json")}"); echo "code $?"`;
  const out = execFileSync("bash", ["-c", script], { encoding: "utf8" });
  assert.match(out, /SNAP-101[\s\S]*code 1\n$/);
});
