import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { createSemaphore } from "./semaphore.ts";

const method = "CreateSnapshot";
const isAnswer = (result: string): boolean => result === "answered";

/** Calls of known length; those without an answer end by a deadline of a minute. */
function setUp({ atOnceMax = 10, newMax = 10, hangingMax = 30 } = {}) {
  const world = createVirtualWorld();
  const gate = createSemaphore({ atOnceMax, newMax, hangingMax, world });
  const startedAt = new Map<string, number>();
  const endedAt = new Map<string, number>();
  let [running, most] = [0, 0];
  const call = (name: string, ms: number, more: { hungBefore?: boolean; onHanging?: () => void } = {}) =>
    gate({ method, isAnswer, ...more }, async () => {
      startedAt.set(name, world.elapsed());
      running += 1;
      most = Math.max(most, running);
      await world.sleep(Math.min(ms, 60_000));
      running -= 1;
      endedAt.set(name, world.elapsed());
      return ms > 60_000 ? "deadline passed" : "answered";
    });
  return { world, gate, call, startedAt, endedAt, most: () => most };
}
const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);

test("the semaphore limits concurrency, keeps the order, and runs every call", async () => {
  const { world, call, startedAt, most } = setUp({ atOnceMax: 2 });
  await world.run(Promise.all(range(5).map((index) => call(`${index}`, 100))));
  assert.deepEqual([...startedAt.keys()], ["0", "1", "2", "3", "4"]);
  assert.deepEqual([...startedAt.values()], [0, 0, 100, 100, 200]);
  assert.equal(most(), 2);
  assert.equal(world.sleepers(), 0);
});

test("a driver that replies at once gets a few calls at a time", async () => {
  const { world, call, startedAt } = setUp({ atOnceMax: 100, newMax: 2 });
  await world.run(Promise.all(range(6).map((index) => call(`${index}`, 99))));
  assert.deepEqual([...startedAt.values()], [0, 0, 99, 99, 198, 198]);
});

test("a slow driver has all its calls within half a second", async () => {
  const { world, gate, call } = setUp({ atOnceMax: 100, newMax: 8 });
  const all = Promise.all(range(150).map((index) => call(`${index}`, 3_000)));
  await world.advance(99);
  assert.equal(gate.stats().running, 8);
  await world.advance(401);
  assert.deepEqual(gate.stats(), { running: 100, hanging: 0, waiting: 50 });
  await world.run(all);
});

test("a quick reply ends the room that slow calls have made", async () => {
  const { world, gate, call } = setUp({ atOnceMax: 100, newMax: 2 });
  const slow = range(2).map((index) => call(`slow ${index}`, 3_000));
  await world.advance(100);
  const more = ["a", "b", "c", "d"].map((name) => call(name, 50));
  assert.equal(gate.stats().running, 6, "each of the slow calls has made room for one more");
  await world.advance(50);
  const next = ["e", "f", "g"].map((name) => call(name, 50));
  assert.deepEqual(gate.stats(), { running: 4, hanging: 0, waiting: 1 });
  await world.run(Promise.all([...slow, ...more, ...next]));
});

test("a failed call frees its slot", async () => {
  const gate = createSemaphore({ atOnceMax: 1, newMax: 1, hangingMax: 0, world: createVirtualWorld() });
  await assert.rejects(
    gate({ method }, async () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(await gate({ method }, async () => "next"), "next");
  assert.deepEqual(gate.stats(), { running: 0, hanging: 0, waiting: 0 });
});

test("twelve hanging calls delay twenty others for seconds, not until their deadlines", async () => {
  const { world, call, endedAt } = setUp();
  let given = 0;
  const hanging = range(12).map((index) => call(`hanging ${index}`, 1e9, { onHanging: () => given++ }));
  const others = range(20).map((index) => call(`other ${index}`, 20));
  await world.run(Promise.all(others));
  assert.ok(world.elapsed() <= 5_100, `${world.elapsed()} ms`);
  await world.advance(5_000);
  assert.equal(given, 12);
  await world.run(Promise.all(hanging));
  assert.equal(endedAt.size, 32);
});

test("calls that hung before do not delay others when they are repeated", async () => {
  const { world, call } = setUp();
  const hanging = range(12).map((index) => call(`hanging ${index}`, 1e9, { hungBefore: true }));
  await world.run(Promise.all(range(20).map((index) => call(`other ${index}`, 20))));
  assert.equal(world.elapsed(), 40);
  await world.run(Promise.all(hanging));
});

test("the number of hanging calls is bounded: further hanging calls keep their slots", async () => {
  const { world, gate, call, most } = setUp({ atOnceMax: 2, hangingMax: 3 });
  const all = range(9).map((index) => call(`${index}`, 1e9));
  const again = range(3).map((index) => call(`again ${index}`, 1e9, { hungBefore: true }));
  await world.advance(30_000);
  assert.deepEqual(gate.stats(), { running: 2, hanging: 3, waiting: 7 });
  await world.run(Promise.all([...all, ...again]));
  assert.equal(most(), 5);
});

test("a driver that is slow with all calls does not get more concurrent calls", async () => {
  const { world, gate, call, most } = setUp({ atOnceMax: 4, hangingMax: 12 });
  await world.run(call("learned", 20_000));
  const all = range(12).map((index) => call(`${index}`, 20_000 + index));
  await world.run(Promise.all(all));
  assert.equal(most(), 4);
  assert.deepEqual(gate.stats(), { running: 0, hanging: 0, waiting: 0 });
});

test("calls that missed their deadline do not change the usual duration", async () => {
  const { world, call, startedAt } = setUp({ atOnceMax: 1, hangingMax: 3 });
  await world.run(call("hanging", 1e9));
  const again = call("hanging again", 1e9);
  const other = call("other", 20);
  await world.run(Promise.all([again, other]));
  assert.equal(startedAt.get("other"), 65_000);
});

test("for any hanging calls both limits hold, and all calls end", () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 4 }),
      fc.array(fc.record({ ms: fc.constantFrom(1, 500, 6_000, 30_000, 1e9), hungBefore: fc.boolean() }), {
        maxLength: 30,
      }),
      async (atOnceMax, hangingMax, calls) => {
        const { world, gate, call, endedAt, most } = setUp({ atOnceMax, hangingMax });
        const all = calls.map(({ ms, hungBefore }, index) => call(`${index}`, ms, { hungBefore }));
        await world.run(Promise.all(all), 1e9);
        assert.equal(endedAt.size, calls.length);
        assert.ok(most() <= atOnceMax + hangingMax);
        assert.deepEqual(gate.stats(), { running: 0, hanging: 0, waiting: 0 });
        assert.equal(world.sleepers(), 0);
      },
    ),
    { numRuns: 200 },
  ));
