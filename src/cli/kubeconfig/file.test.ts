import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { realWorld } from "../../base/world.ts";
import { type Owner, thisProcess } from "../owner.ts";
import { enterKubeconfig, leaveKubeconfig } from "./file.ts";

const gone = (): Owner => {
  const pid = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
  return { ...thisProcess(), pid, startedAt: "another boot/1" };
};
const entryOf = (run: string, owner = thisProcess()) => ({
  cluster: { server: "x" },
  user: {},
  mark: { ...owner, run },
});
const enter = (path: string, run: string, owner?: Owner, world = realWorld) =>
  enterKubeconfig(path, entryOf(run, owner), world);
const leave = (path: string, run: string, world = realWorld) =>
  leaveKubeconfig(path, (mark) => mark.run === run, world);
/** However busy the machine is, nobody gives up. */
const patient = { ...realWorld, elapsed: () => 0 };
const text = "# mine\nclusters:\n- {name: a, cluster: {server: b}}\nusers: []\ncontexts: null\n";

test("concurrent additions and removals lose no kubeconfig entry and restore every byte", async (t) => {
  const path = join(temporaryFolder(t), "config");
  writeFileSync(path, text);
  const runs = Array.from({ length: 12 }, (_, index) => `run-${index}`);
  const names = await Promise.all(runs.map((run) => enter(path, run, undefined, patient)));
  assert.equal(new Set(names).size, runs.length);
  for (const run of runs) assert.ok(readFileSync(path, "utf8").includes(`"${run}"`), run);
  await Promise.all(runs.map((run) => leave(path, run, patient)));
  assert.equal(readFileSync(path, "utf8"), text);
});

test("mode and symbolic link of the kubeconfig stay, and no temporary file is left", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "real"));
  const [real, path] = [join(folder, "real", "config"), join(folder, "config")];
  writeFileSync(real, text);
  chmodSync(real, 0o640);
  symlinkSync(real, path);
  await enter(path, "one");
  assert.match(readFileSync(real, "utf8"), /snapkeep/);
  await leave(path, "one");
  assert.deepEqual([lstatSync(path).isSymbolicLink(), statSync(real).mode & 0o777], [true, 0o640]);
  assert.deepEqual([readdirSync(folder).sort(), readdirSync(join(folder, "real"))], [["config", "real"], ["config"]]);
});

test("a created kubeconfig is removed with its last entry, and an empty one stays empty", async (t) => {
  const folder = temporaryFolder(t);
  const [absent, empty] = [join(folder, "absent"), join(folder, "empty")];
  writeFileSync(empty, "");
  for (const path of [absent, empty]) for (const run of ["one", "two"]) await enter(path, run);
  assert.equal(statSync(absent).mode & 0o777, 0o600);
  for (const path of [absent, empty]) for (const run of ["one", "two"]) await leave(path, run);
  assert.deepEqual([existsSync(absent), readFileSync(empty, "utf8")], [false, ""]);
});

test("entries of an ended process are removed by the next one, entries of running processes and other machines stay", async (t) => {
  const path = join(temporaryFolder(t), "config");
  await enter(path, "dead", gone());
  await enter(path, "far", { ...gone(), host: "another-machine" });
  await enter(path, "alive");
  await enter(path, "next");
  const runs = [...readFileSync(path, "utf8").matchAll(/"run":"(\w+)"/g)].map(([, run]) => run);
  assert.deepEqual([...new Set(runs)].sort(), ["alive", "far", "next"]);
});

test("a kubeconfig that an ended process created is still removed with its last entry", async (t) => {
  const path = join(temporaryFolder(t), "config");
  await enter(path, "dead", gone());
  await enter(path, "next");
  await leave(path, "next");
  assert.equal(existsSync(path), false);
});

test("the lock of an ended process is removed, and the lock of another process is awaited and then named in an error", async (t) => {
  const path = join(temporaryFolder(t), "config");
  writeFileSync(`${path}.lock`, JSON.stringify(gone()));
  assert.equal(await enter(path, "one"), "snapkeep");
  writeFileSync(`${path}.lock`, "");
  const hasty = { ...realWorld, elapsed: () => realWorld.elapsed() * 100 };
  await assert.rejects(
    leaveKubeconfig(path, () => true, hasty),
    /config cannot be changed: another program holds its lock; if none is running, remove .*config\.lock$/,
  );
  assert.match(readFileSync(path, "utf8"), /"run":"one"/);
});

test("a symbolic link at the path of the lock file is not followed", async (t) => {
  const folder = temporaryFolder(t);
  const [path, elsewhere] = [join(folder, "config"), join(folder, "elsewhere")];
  writeFileSync(elsewhere, "");
  symlinkSync(elsewhere, `${path}.lock`);
  const hasty = { ...realWorld, elapsed: () => realWorld.elapsed() * 100 };
  await assert.rejects(enterKubeconfig(path, entryOf("one"), hasty), /another program holds its lock/);
  assert.deepEqual([readFileSync(elsewhere, "utf8"), existsSync(path)], ["", false]);
});

const untouched: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ["not YAML", "clusters: [", /line 1 is not valid YAML/],
  ["not UTF-8", Buffer.from([0xff, 0xfe, 0x00]), /not UTF-8 text/],
  ["of another kind", "kind: Pod\n", /its kind is "Pod", not Config/],
];
for (const [given, bytes, why] of untouched)
  test(`a file that is ${given} is an error and stays as it is`, async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "config");
    writeFileSync(path, bytes);
    await assert.rejects(enter(path, "one"), why);
    assert.deepEqual(readFileSync(path), Buffer.from(bytes));
    assert.deepEqual(readdirSync(folder), ["config"]);
  });

test("removing an entry of a deleted kubeconfig returns at once", () => leave("/no/such/folder/config", "one"));

test("a folder, a dangling link and a device are rejected", async (t) => {
  const folder = temporaryFolder(t);
  symlinkSync(join(folder, "nothing"), join(folder, "link"));
  await assert.rejects(enter(folder, "one"), /there is a folder of that name/);
  await assert.rejects(enter(join(folder, "link"), "one"), /a link to a file that is not there/);
  await assert.rejects(enter("/dev/null", "one"), /not a regular file/);
});
