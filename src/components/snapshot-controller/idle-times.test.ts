import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent } from "../../../test/builders.ts";
import { finalizers } from "../../api/names.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { createIdleTimes } from "./idle-times.ts";

const claim = aClaim();
const guarded = aClaim({ metadata: { finalizers: [finalizers.claimAsSource] } });
const said = aContent({ status: { creationTime: 1n } });

function idleTimes() {
  let nowMs = 1_000;
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  const times = createIdleTimes({ elapsed: () => nowMs });
  const idleMs = (seen: PersistentVolumeClaim, isNeeded: boolean) => {
    times.note(seen, () => isNeeded);
    return times.idleMs(seen);
  };
  return { ...times, idleMs, pass, readMs: times.idleMs };
}

test("a claim is idle from when it is first seen protected without need", () => {
  const { idleMs, pass } = idleTimes();
  const found = [idleMs(guarded, false)];
  pass(700);
  found.push(idleMs(guarded, false), idleMs(guarded, true), idleMs(guarded, false));
  pass(50);
  found.push(idleMs(guarded, false), idleMs(claim, false), idleMs(guarded, false));
  assert.deepEqual(found, [0, 700, 0, 0, 50, 0, 0]);
});

test("reading the idle time does not start it", () => {
  const { readMs, pass } = idleTimes();
  const found = [readMs(guarded)];
  pass(700);
  assert.deepEqual([...found, readMs(guarded)], [0, 0]);
});

test("a claim that is gone is forgotten", () => {
  const { idleMs, pass, seeClaim } = idleTimes();
  idleMs(guarded, false);
  pass(700);
  seeClaim(guarded, undefined);
  assert.equal(idleMs(guarded, false), 0);
});

test("a burst makes progress when a sidecar first writes a content's status, or a content is deleted", () => {
  const { standstillMs, seeContent, pass } = idleTimes();
  assert.equal(standstillMs(), Number.POSITIVE_INFINITY);
  seeContent(undefined, aContent());
  seeContent(aContent(), aContent());
  seeContent(said, said);
  seeContent(said, undefined);
  assert.equal(standstillMs(), Number.POSITIVE_INFINITY);
  seeContent(aContent(), said);
  pass(30);
  assert.equal(standstillMs(), 30);
  seeContent(aContent(), undefined);
  assert.equal(standstillMs(), 0);
});
