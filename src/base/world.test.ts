import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "./fault.ts";
import { realWorld, uuid, withDeadline } from "./world.ts";

test("a sleep ends with the signal's reason as soon as it aborts", async () => {
  const stop = new AbortController();
  const sleeping = realWorld.sleep(60_000, stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(sleeping, /enough/);
  await assert.rejects(realWorld.sleep(60_000, stop.signal), /enough/);
});

test("a sleep of no time resolves, and a negative one too", async () => {
  await realWorld.sleep(0);
  await realWorld.sleep(-5);
});

test("a uuid is version 4 and determined by the random source", () => {
  const dice = (): { random(): number } => {
    let state = 7;
    return {
      random: () => {
        state = (state * 16807) % 2147483647;
        return state / 2147483647;
      },
    };
  };
  assert.match(uuid(dice()), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(uuid(dice()), uuid(dice()));
});

test("the signal aborts work at its deadline, and finished work leaves no timer", async () => {
  const waiting = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  await assert.rejects(
    withDeadline(realWorld, undefined, 1, waiting),
    (reason) => reason instanceof Fault && reason.code === "DeadlineExceeded",
  );
  const stop = new AbortController();
  const stopped = withDeadline(realWorld, stop.signal, 60_000, waiting);
  stop.abort(new Error("enough"));
  await assert.rejects(stopped, /enough/);
  assert.equal(await withDeadline(realWorld, undefined, 60_000, async () => "done"), "done");
});
