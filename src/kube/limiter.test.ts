import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { createLimiter } from "./limiter.ts";

test("a burst passes at once, then requests pass at the rate, in order", async () => {
  const world = createVirtualWorld();
  const limiter = createLimiter({ qps: 10, burst: 3 }, world);
  const passedAt: number[] = [];
  await world.run(
    Promise.all(Array.from({ length: 6 }, () => limiter().then(() => passedAt.push(Math.round(world.elapsed()))))),
  );
  assert.deepEqual(passedAt, [0, 0, 0, 100, 200, 300]);
});

test("unused rate limit tokens accumulate up to the burst", async () => {
  const world = createVirtualWorld();
  const limiter = createLimiter({ qps: 10, burst: 2 }, world);
  await Promise.all([limiter(), limiter()]);
  await world.advance(60_000);
  await Promise.all([limiter(), limiter()]);
  await world.run(limiter());
  assert.equal(Math.round(world.elapsed()), 60_100);
});

test("an aborted wait returns its rate limit token", async () => {
  const world = createVirtualWorld();
  const limiter = createLimiter({ qps: 1, burst: 1 }, world);
  await limiter();
  const stop = new AbortController();
  const waiting = limiter(stop.signal);
  stop.abort();
  await assert.rejects(waiting);
  await world.run(limiter());
  assert.equal(Math.round(world.elapsed()), 1_000);
});
