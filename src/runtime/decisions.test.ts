import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryLog } from "../../test/csi-sockets.ts";
import { because, isWaiting, type Reason, type ReasonCode, reasonRows } from "../api/reasons.ts";
import type { Key } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import { silent } from "../base/log.ts";
import { createDecisions } from "./decisions.ts";
import { controllerObserver } from "./measure.ts";
import { createMetrics } from "./metrics.ts";

const key = (name: string): Key => `team/${name}` as Key;
const [monday, tuesday] = [key("monday"), key("tuesday")];
const waiting = because("ClaimNotFound", "claim team/data not found");
const settled = because("Settled", "the snapshot is ready");
const decision = (reason: Reason, ...actions: readonly string[]) => ({ phase: "invalid", actions, reason });
const shown = (counts: ReadonlyMap<ReasonCode, number>) => Object.fromEntries([...counts].filter(([, n]) => n !== 0));

test("a decision is a line of log with phase, reason, sentence and actions, and the same decision is not repeated", () => {
  const log = createMemoryLog();
  const decisions = createDecisions(log);
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
  const decisions = createDecisions({ ...silent, debug: () => assert.fail("a line was written") });
  decisions.note(monday, decision(waiting));
  assert.deepEqual(shown(decisions.waiting()), { ClaimNotFound: 1 });
});

test("objects are counted by reason while they wait, each once, and not when they are gone", () => {
  const decisions = createDecisions(silent);
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
  const decisions = createDecisions(log);
  const names = Array.from({ length: limits.decisionsRememberedMax + 1 }, (_, index) => key(`s-${index}`));
  for (const name of names) decisions.note(name, decision(settled));
  const before = log.lines.length;
  decisions.note(names.at(-1) as Key, decision(settled));
  assert.equal(log.lines.length, before);
  decisions.note(names[0] as Key, decision(settled));
  assert.equal(log.lines.length, before + 1);
});

test("the gauge adds up the controllers of a component, and falls when an object no longer waits", async () => {
  const metrics = createMetrics();
  const controllers = ["snapshots", "contents"].map((queue) => {
    const decisions = createDecisions(silent);
    controllerObserver(metrics, "snapshot-controller", queue).bindWaiting?.(decisions.waiting);
    return decisions;
  });
  const lines = async () =>
    (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith("snapkeep_waiting_objects{"));
  for (const decisions of controllers) decisions.note(monday, decision(waiting));
  const labels = 'component="snapshot-controller",reason="ClaimNotFound"';
  assert.deepEqual(await lines(), [`snapkeep_waiting_objects{${labels}} 2`]);
  controllers[0]?.note(monday, decision(settled));
  assert.deepEqual(await lines(), [`snapkeep_waiting_objects{${labels}} 1`]);
  controllers[1]?.forget(monday);
  assert.deepEqual(await lines(), [`snapkeep_waiting_objects{${labels}} 0`]);
});

test("only reasons of objects that wait for somebody are counted", () => {
  for (const [code, { waits }] of Object.entries(reasonRows))
    assert.equal(isWaiting(because(code as ReasonCode, "…")), waits);
});
