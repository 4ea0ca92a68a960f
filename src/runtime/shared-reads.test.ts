import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { shareReads } from "./shared-reads.ts";

const { signal } = new AbortController();

/** Reads that take 10 ms and want a pause of 90 ms; those fail that are named. */
function setUp({ failing = [], pauseMs = 90 }: { failing?: readonly number[]; pauseMs?: number } = {}) {
  const world = createVirtualWorld();
  const beganAt: [what: string, ms: number][] = [];
  const read = shareReads(async (what) => {
    const isFailing = failing.includes(beganAt.length);
    beganAt.push([what, world.elapsed()]);
    await world.sleep(10);
    if (isFailing) throw new Error("unreadable");
    return pauseMs;
  }, world);
  const askAt = async (ms: number, what = "team"): Promise<number> => {
    await world.sleep(ms);
    await read(what, signal);
    return world.elapsed();
  };
  return { world, beganAt, askAt };
}

test("one alone is read at once", async () => {
  const { world, beganAt, askAt } = setUp();
  const end = askAt(0);
  assert.equal(await world.run(end), 10);
  assert.deepEqual(beganAt, [["team", 0]]);
});

test("all who ask during a read share the next one, which begins after they asked", async () => {
  const { world, beganAt, askAt } = setUp();
  const ends = Promise.all([0, 1, 2, 9].map((ms) => askAt(ms)));
  assert.deepEqual(await world.run(ends), [10, 110, 110, 110]);
  assert.deepEqual(beganAt, [
    ["team", 0],
    ["team", 100],
  ]);
});

test("after a read none begins for as long as it said", async () => {
  const { world, beganAt, askAt } = setUp();
  const ends = Promise.all([0, 50, 99, 150, 500].map((ms) => askAt(ms)));
  await world.run(ends);
  assert.deepEqual(
    beganAt.map(([, ms]) => ms),
    [0, 100, 200, 500],
  );
});

test("nobody waits longer than 5 s", async () => {
  const { world, askAt } = setUp({ pauseMs: 180_000 });
  assert.deepEqual(await world.run(Promise.all([0, 10].map((ms) => askAt(ms)))), [10, 5_020]);
});

test("other things are read meanwhile", async () => {
  const { world, beganAt, askAt } = setUp();
  const ends = Promise.all([askAt(0), askAt(1, "other")]);
  await world.run(ends);
  assert.deepEqual(beganAt, [
    ["team", 0],
    ["other", 1],
  ]);
});

test("a read that fails fails for all who share it, and not for those who come later", async () => {
  const { world, askAt } = setUp({ failing: [1] });
  const outcomes = Promise.allSettled([0, 1, 2, 105].map((ms) => askAt(ms)));
  assert.deepEqual(
    (await world.run(outcomes)).map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
});
