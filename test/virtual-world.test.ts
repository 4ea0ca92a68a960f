import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "./virtual-world.ts";

test("sleeps end at their own times, in order of their start", async () => {
  const world = createVirtualWorld();
  const ended: string[] = [];
  const sleeper = async (name: string, ms: number): Promise<void> => {
    await world.sleep(ms);
    ended.push(`${name} at ${world.elapsed()}`);
  };
  void sleeper("late", 20);
  void sleeper("early", 10);
  void sleeper("late too", 20);
  await world.advance(15);
  assert.deepEqual(ended, ["early at 10"]);
  assert.equal(world.elapsed(), 15);
  await world.advance(5);
  assert.deepEqual(ended, ["early at 10", "late at 20", "late too at 20"]);
});

test("work that sleeps again continues within one advance of the clock", async () => {
  const world = createVirtualWorld();
  let ticks = 0;
  const ticking = async (): Promise<void> => {
    for (;;) {
      await world.sleep(10);
      ticks += 1;
    }
  };
  void ticking();
  await world.advance(100);
  assert.equal(ticks, 10);
});

test("an aborted sleep rejects with the reason and no longer counts", async () => {
  const world = createVirtualWorld();
  const stop = new AbortController();
  const sleeping = world.sleep(10, stop.signal);
  assert.equal(world.sleepers(), 1);
  stop.abort(new Error("enough"));
  await assert.rejects(sleeping, /enough/);
  await assert.rejects(world.sleep(10, stop.signal), /enough/);
  assert.equal(world.sleepers(), 0);
});

test("run advances the clock until the work is done, and reports work that never ends", async () => {
  const world = createVirtualWorld();
  await world.run(world.sleep(1_000_000));
  assert.equal(world.elapsed(), 1_000_000);
  await assert.rejects(world.run(new Promise(() => undefined)), /something that will not come/);
  await assert.rejects(world.run(world.sleep(20), 10), /not done after 10 virtual ms; 1 still sleep/);
});

test("a stopped process finds its timers overdue, a clock jump moves only the wall clock", async () => {
  const world = createVirtualWorld();
  const wall = world.now();
  let endedAt = 0;
  void world.sleep(10).then(() => {
    endedAt = world.elapsed();
  });
  world.freeze(500);
  world.jump(-60_000);
  assert.equal(await world.runUntilIdle(1), true);
  assert.equal(endedAt, 500);
  assert.equal(world.now(), wall + 500 - 60_000);
});

test("a seed determines the sequence of random numbers in [0, 1)", () => {
  const draws = (seed: number): readonly number[] => {
    const world = createVirtualWorld(seed);
    return Array.from({ length: 1_000 }, () => world.random());
  };
  assert.deepEqual(draws(7), draws(7));
  assert.notDeepEqual(draws(7), draws(8));
  for (const draw of draws(7)) assert.ok(draw >= 0 && draw < 1);
  const mean = draws(7).reduce((sum, draw) => sum + draw, 0) / 1_000;
  assert.ok(Math.abs(mean - 0.5) < 0.05, `mean ${mean}`);
});
