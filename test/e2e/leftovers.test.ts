/** Whatever way a run ends, nothing of it stays: no process, no mount, no folder; and nothing of anybody else is touched. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Identity, identify, isAlive, processNamespace } from "../../src/runtime/process-identity.ts";
import { type ByHand, startByHand } from "./harness/by-hand.ts";
import { createInstance } from "./harness/instance.ts";
import { runFolder, sweep, takeDown, writeState } from "./harness/leftovers.ts";
import { mountsUnder } from "./harness/mounts.ts";
import { until } from "./harness/until.ts";

const remains = ({ folder, processes }: ByHand) => ({
  processes: processes.filter(isAlive),
  mounts: mountsUnder(folder),
  folder: existsSync(folder),
});
const nothing = { processes: [], mounts: [], folder: false };

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  test(`npm run control-plane leaves nothing behind when it gets ${signal}`, async () => {
    const running = await startByHand();
    assert.equal(running.processes.length, 3);
    running.child.kill(signal);
    assert.equal(await running.ended, code);
    assert.deepEqual(remains(running), nothing);
  });

test("the next start cleans up after a killed run", async () => {
  const killed = await startByHand();
  killed.child.kill("SIGKILL");
  await killed.ended;
  assert.equal(killed.processes.filter(isAlive).length, 3, "its programs outlive a kill -9");
  const next = await startByHand();
  try {
    assert.deepEqual(remains(killed), nothing);
    assert.equal(next.processes.filter(isAlive).length, 3);
  } finally {
    next.child.kill("SIGINT");
    await next.ended;
  }
});

test("a cleanup does not touch running control planes", async () => {
  const running = await startByHand();
  assert.ok(!sweep().includes(running.folder));
  assert.equal(running.processes.filter(isAlive).length, 3);
  running.child.kill("SIGINT");
  await running.ended;
});

test("a process with a reused pid is not killed", async () => {
  const stranger = spawn("sleep", ["60"], { stdio: "ignore" });
  const gone: Identity = { pid: 2 ** 22 + 1, startedAt: "never" };
  const folder = join(runFolder(), "stranger");
  mkdirSync(folder);
  writeState(folder, {
    owner: gone,
    namespace: processNamespace(),
    processes: [{ pid: stranger.pid ?? 0, startedAt: "another boot/1" }],
    links: [],
  });
  assert.ok(sweep().includes(folder));
  assert.ok(!existsSync(folder));
  assert.notEqual(identify(stranger.pid ?? 0), undefined);
  stranger.kill();
});

test("an unrecorded program that was started just before the kill is found by its environment", async () => {
  const instance = createInstance();
  const { pid, ended } = instance.start("shell", "sh", ["-c", "sleep 60 & wait"]);
  const child = await until({ what: "the shell has a child" }, () =>
    /\d+/.exec(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"))?.at(0),
  );
  takeDown(instance.folder);
  await ended;
  assert.equal(identify(Number(child)), undefined);
});
