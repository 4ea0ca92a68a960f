import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryLog } from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { because, isWaiting, type Reason, type ReasonCode, reasonRows } from "../api/reasons.ts";
import type { Key } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import { silent } from "../base/log.ts";
import { createDecisions, type Waiting } from "./decisions.ts";
import { controllerObservers } from "./measure.ts";
import { createMetrics } from "./metrics.ts";

const key = (name: string): Key => `team/${name}` as Key;
const [monday, tuesday] = [key("monday"), key("tuesday")];
const waiting = because("ClaimNotFound", "claim team/data not found");
const settled = because("Settled", "the snapshot is ready");
const refused = because("NotPermitted", "PATCH …: patching volumesnapshots is forbidden");
const decision = (reason: Reason, ...actions: readonly string[]) => ({
  phase: () => "invalid",
  actions: actions.map((kind) => ({ kind })),
  reason,
});
const world = createVirtualWorld();
const shown = (waiting: ReadonlyMap<ReasonCode, Waiting>) =>
  Object.fromEntries([...waiting].map(([reason, { count }]) => [reason, count]));

test("a decision is a line of log with phase, reason, sentence and actions, and the same decision is not repeated", () => {
  const log = createMemoryLog();
  const decisions = createDecisions(log, world);
  decisions.note(monday, decision(waiting, "patch", "event"));
  decisions.note(monday, decision(waiting, "patch", "event"));
  decisions.note(monday, decision(settled));
  const line = { level: "debug", message: "decided", key: monday, phase: "invalid" };
  assert.deepEqual(log.lines, [
    { ...line, reason: "ClaimNotFound", says: "claim team/data not found", actions: "patch,event" },
    { ...line, reason: "Settled", says: "the snapshot is ready", actions: "none" },
  ]);
});

test("below verbosity 4 no decision is kept, and waiting objects are counted all the same", () => {
  const decisions = createDecisions({ ...silent, debug: () => assert.fail("a line was written") }, world);
  decisions.note(monday, { ...decision(waiting), phase: () => assert.fail("a phase was looked up") });
  assert.deepEqual(shown(decisions.waiting()), { ClaimNotFound: 1 });
});

test("objects are counted by reason while they wait, each once, and not when they are gone", () => {
  const decisions = createDecisions(silent, world);
  for (const name of [monday, tuesday, monday]) decisions.note(name, decision(waiting));
  assert.deepEqual(shown(decisions.waiting()), { ClaimNotFound: 2 });
  decisions.note(monday, decision(because("WaitsForDriver", "CreateSnapshot has no reply yet")));
  assert.deepEqual(shown(decisions.waiting()), { ClaimNotFound: 1, WaitsForDriver: 1 });
  decisions.note(monday, decision(settled));
  decisions.forget(tuesday);
  assert.deepEqual(shown(decisions.waiting()), {});
});

test("the last decisions of so many keys are remembered, and the oldest is forgotten first", () => {
  const log = createMemoryLog();
  const decisions = createDecisions(log, world);
  const names = Array.from({ length: limits.decisionsRememberedMax + 1 }, (_, index) => key(`s-${index}`));
  for (const name of names) decisions.note(name, decision(settled));
  const before = log.lines.length;
  decisions.note(names.at(-1) as Key, decision(settled));
  assert.equal(log.lines.length, before);
  decisions.note(names[0] as Key, decision(settled));
  assert.equal(log.lines.length, before + 1);
});

test("an object that flips between two decisions writes so many lines in each window, and says how many were left out", async () => {
  const world = createVirtualWorld();
  const log = createMemoryLog();
  const decisions = createDecisions(log, world);
  const flips = limits.decisionLinesPerKeyMax * 10;
  const flip = () => {
    for (let time = 0; time < flips; time++)
      decisions.note(monday, time % 2 === 0 ? decision(waiting) : decision(settled, "patch"));
  };
  flip();
  assert.equal(log.lines.length, limits.decisionLinesPerKeyMax);
  await world.advance(limits.decisionLinesMs);
  flip();
  const second = log.lines.slice(limits.decisionLinesPerKeyMax);
  assert.equal(second.length, limits.decisionLinesPerKeyMax);
  assert.deepEqual([second[0]?.leftOut, second[1]?.leftOut], [flips - limits.decisionLinesPerKeyMax, undefined]);
  decisions.note(tuesday, decision(waiting));
  assert.equal(log.lines.at(-1)?.key, tuesday, "another object has its own lines");
});

test("all objects of a controller write so many lines in each window, and what was left out is written at the next look", async () => {
  const world = createVirtualWorld();
  const log = createMemoryLog();
  const decisions = createDecisions(log, world);
  for (let index = 0; index < limits.decisionLinesMax; index++) decisions.note(key(`s-${index}`), decision(settled));
  decisions.note(monday, decision(waiting));
  decisions.note(monday, decision(waiting));
  assert.equal(log.lines.length, limits.decisionLinesMax);
  await world.advance(limits.decisionLinesMs);
  decisions.note(monday, decision(waiting));
  const last = log.lines.at(-1);
  assert.deepEqual([last?.key, last?.reason, last?.leftOut], [monday, "ClaimNotFound", 1]);
});

test("a failed action is a line with its reason, once until an action succeeds", () => {
  const log = createMemoryLog();
  const decisions = createDecisions(log, world);
  const attempt = () => decisions.note(monday, decision(because("Writes", "the status is written"), "patch"));
  for (let time = 0; time < 3; time++) {
    attempt();
    decisions.failed(monday, refused, { kind: "patch" });
  }
  assert.deepEqual(log.lines.slice(1), [
    { level: "debug", message: "decided", key: monday, reason: "NotPermitted", says: refused.says, failed: "patch" },
  ]);
  attempt();
  decisions.succeeded(monday);
  decisions.failed(monday, refused, undefined);
  assert.equal(log.lines.at(-1)?.failed, "decision");
});

test("an object whose action failed is counted until its actions succeed, also in the middle of a retry", () => {
  const decisions = createDecisions(silent, world);
  const writes = decision(because("Writes", "the status is written"), "patch");
  decisions.note(monday, writes);
  decisions.failed(monday, refused, { kind: "patch" });
  decisions.note(monday, writes);
  assert.deepEqual(shown(decisions.waiting()), { NotPermitted: 1 });
  decisions.succeeded(monday);
  assert.deepEqual(shown(decisions.waiting()), {});
});

test("after a failure, what was decided counts once its actions succeed, or at once if it has none", () => {
  const decisions = createDecisions(silent, world);
  for (const name of [monday, tuesday]) decisions.failed(name, refused, { kind: "patch" });
  decisions.note(monday, decision(waiting, "event"));
  decisions.note(tuesday, decision(waiting));
  assert.deepEqual(shown(decisions.waiting()), { NotPermitted: 1, ClaimNotFound: 1 });
  decisions.succeeded(monday);
  assert.deepEqual(shown(decisions.waiting()), { ClaimNotFound: 2 });
  decisions.failed(monday, refused, undefined);
  for (const name of [monday, tuesday]) decisions.forget(name);
  assert.deepEqual(shown(decisions.waiting()), {});
});

test("a wait lasts while its reason changes and while something is sent for it, and ends when nobody has to act", async () => {
  const world = createVirtualWorld();
  const decisions = createDecisions(silent, world);
  const longest = () =>
    Object.fromEntries([...decisions.waiting()].map(([reason, { longestMs }]) => [reason, longestMs]));
  const retry = decision(because("Writes", "CreateSnapshot is called"), "call");
  decisions.note(monday, retry);
  await world.advance(1_000);
  decisions.note(monday, decision(because("WaitsForDriver", "CreateSnapshot has no reply yet")));
  await world.advance(1_000);
  decisions.note(tuesday, decision(because("DriverFailed", "CreateSnapshot: no space")));
  assert.deepEqual(longest(), { WaitsForDriver: 1_000, DriverFailed: 0 });
  decisions.note(monday, retry);
  await world.advance(1_000);
  decisions.note(monday, decision(because("DriverFailed", "CreateSnapshot: no space")));
  assert.deepEqual(longest(), { DriverFailed: 2_000 });
  decisions.note(monday, decision(settled));
  assert.deepEqual(longest(), { DriverFailed: 1_000 });
  decisions.note(monday, decision(waiting));
  assert.deepEqual(longest(), { DriverFailed: 1_000, ClaimNotFound: 0 });
});

test("the gauges add up the controllers of a component and show the longest wait, and fall when an object no longer waits", async () => {
  const world = createVirtualWorld();
  const metrics = createMetrics();
  const observer = controllerObservers(metrics, "snapshot-controller");
  const controllers = ["snapshots", "contents"].map((queue) => {
    const decisions = createDecisions(silent, world);
    observer(queue).bindWaiting?.(decisions.waiting);
    return decisions;
  });
  const labels = '{component="snapshot-controller",reason="ClaimNotFound"}';
  const read = async (name: string) =>
    (await metrics.scrape()).text
      .split("\n")
      .find((line) => line.startsWith(`${name}${labels}`))
      ?.split(" ")[1];
  const values = async () => [await read("snapkeep_waiting_objects"), await read("snapkeep_longest_wait_seconds")];
  for (const decisions of controllers) {
    decisions.note(monday, decision(waiting));
    await world.advance(60_000);
  }
  assert.deepEqual(await values(), ["2", "120"]);
  controllers[0]?.note(monday, decision(settled));
  assert.deepEqual(await values(), ["1", "60"]);
  controllers[1]?.forget(monday);
  assert.deepEqual(await values(), ["0", "0"]);
});

test("only reasons of objects that wait for somebody are counted", () => {
  for (const [code, { waits }] of Object.entries(reasonRows))
    assert.equal(isWaiting(because(code as ReasonCode, "…")), waits);
});
