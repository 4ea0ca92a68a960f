import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import fc from "fast-check";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import type { Key, Millis } from "../base/brand.ts";
import { createHeap } from "./heap.ts";
import type { QueueOptions } from "./queue.ts";
import { createQueue } from "./queue.ts";

const key = (name: string): Key => name as Key;
const [a, b, c] = [key("a"), key("b"), key("c")];

function aQueue(options: Partial<QueueOptions> = {}) {
  const world = createVirtualWorld();
  const stop = new AbortController();
  const queue = createQueue({ world, backoff: { startMs: 1_000, maxMs: 300_000 }, ...options });
  /** Who was handed out, and when. */
  const taken: string[] = [];
  const take = async (): Promise<Key | undefined> => {
    const next = await queue.next(stop.signal);
    if (next !== undefined) taken.push(`${next}@${world.elapsed()}`);
    return next;
  };
  return { world, queue, stop, taken, take };
}

test("a key added many times runs once", async () => {
  const { world, queue, taken, take } = aQueue();
  for (let count = 0; count < 5; count++) queue.add(a);
  queue.add(b);
  for (let count = 0; count < 3; count++) void take();
  await world.advance(1_000);
  assert.deepEqual(taken, ["a@0", "b@0"]);
});

test("a wait that is too short to move the clock lasts a millisecond, so that nobody waits for it again and again", async () => {
  const { world, queue, taken, take } = aQueue();
  await world.advance(132_187.146187181);
  queue.add(a, 1e-12);
  void take();
  await world.advance(0.5);
  assert.deepEqual(taken, []);
  await world.advance(0.5);
  assert.equal(taken.length, 1);
});

test("the earliest date wins, in any order of requests", async () => {
  const { world, queue, taken, take } = aQueue();
  queue.add(a, 500);
  queue.add(a, 100);
  queue.add(a, 900);
  void take();
  await world.advance(2_000);
  assert.deepEqual(taken, ["a@100"]);
});

test("a key added while it runs waits for the end of its run, others do not wait", async () => {
  const { world, queue, taken, take } = aQueue();
  queue.add(a);
  await take();
  queue.add(a);
  queue.add(b);
  void take();
  void take();
  await world.advance(50);
  assert.deepEqual(taken, ["a@0", "b@0"]);
  queue.done(a);
  await world.advance(0);
  assert.deepEqual(taken, ["a@0", "b@0", "a@50"]);
});

test("a key that asked for a later run while running gets it at that date", async () => {
  const { world, queue, taken, take } = aQueue();
  queue.add(a);
  await take();
  queue.add(a, 300);
  queue.add(a, 200);
  queue.done(a);
  void take();
  await world.advance(1_000);
  assert.deepEqual(taken, ["a@0", "a@200"]);
});

test("one timer serves all waiting keys, and an earlier key shortens it", async () => {
  const { world, queue, taken, take } = aQueue();
  void take();
  void take();
  queue.add(a, 60_000);
  queue.add(b, 90_000);
  assert.equal(world.sleepers(), 1);
  await world.advance(10);
  queue.add(c, 5);
  assert.equal(world.sleepers(), 1);
  await world.advance(5);
  assert.deepEqual(taken, ["c@15"]);
  await world.advance(60_000);
  assert.deepEqual(taken, ["c@15", "a@60000"]);
});

test("without a waiting consumer there is no timer", async () => {
  const { world, queue, stop, take } = aQueue();
  queue.add(a, 60_000);
  assert.equal(world.sleepers(), 0);
  const waiting = take();
  assert.equal(world.sleepers(), 1);
  stop.abort();
  assert.equal(await waiting, undefined);
  assert.equal(world.sleepers(), 0);
});

test("failed keys back off up to the maximum delay, and forgetting resets the backoff", async () => {
  const { queue, take } = aQueue({ backoff: { startMs: 100, maxMs: 1_000 } });
  queue.add(a);
  await take();
  const delays = Array.from({ length: 8 }, () => queue.retry(a));
  for (const [index, ms] of delays.entries()) {
    const whole = Math.min(1_000, 100 * 2 ** index);
    assert.ok(ms >= whole / 2 && ms <= whole, `delay ${index} is ${ms}`);
  }
  queue.forget(a);
  assert.ok(queue.retry(a) <= 100);
});

test("a retry is never sooner than the server asked for", () =>
  assert.equal(aQueue().queue.retry(a, { atLeastMs: 7_000 }), 7_000));

test("a retry is never later than its maximum delay", () => {
  const { queue } = aQueue({ backoff: { startMs: 100, maxMs: 60_000 } });
  for (let times = 0; times < 20; times++) assert.ok(queue.retry(a, { atMostMs: 2_000 }) <= 2_000);
});

test("many quick retries do not make the first slow one later", () => {
  const { queue } = aQueue({ backoff: { startMs: 100, maxMs: 60_000 } });
  for (let times = 0; times < 20; times++) queue.retry(a, { startMs: 1 });
  assert.ok(queue.retry(a) <= 100);
  assert.ok(queue.retry(a, { startMs: 1 }) > 100);
  queue.forget(a);
  assert.ok(queue.retry(a, { startMs: 1 }) <= 1);
});

test("two keys that fail together are not retried together", () => {
  const { queue } = aQueue();
  assert.notEqual(queue.retry(a), queue.retry(b));
});

test("a full queue rejects new keys, keeps its own, and reports free space", async () => {
  let rooms = 0;
  const { queue, take } = aQueue({ keysMax: 4, onRoom: () => (rooms += 1) });
  assert.deepEqual(
    ["a", "b", "c", "d", "e", "a"].map(key).map((name) => queue.add(name)),
    [true, true, true, true, false, true],
  );
  const first = await take();
  assert.equal(queue.add(key("e")), false, "a running key holds its place");
  assert.equal(queue.add(first ?? a), true, "a running key may come back");
  queue.done(key("a"));
  for (const name of ["b", "c", "d"]) {
    assert.equal(rooms, 0);
    assert.equal(await take(), name);
    queue.done(key(name));
    if (rooms > 0) break;
  }
  assert.equal(rooms, 1);
  assert.equal(queue.add(key("e")), true);
});

test("the statistics count due keys and the age of runs", async () => {
  const { world, queue, take } = aQueue();
  queue.add(a);
  queue.add(b);
  queue.add(c, 100);
  await take();
  await world.advance(30);
  assert.deepEqual(queue.stats(), { due: 1, waiting: 2, runningMs: [30] });
});

test("an observer gets every add, start, end and retry", async () => {
  const heard: string[] = [];
  const { world, queue, take } = aQueue({
    observer: {
      added: () => heard.push("added"),
      started: (ms) => heard.push(`started after ${ms}`),
      finished: (ms) => heard.push(`finished in ${ms}`),
      retried: () => heard.push("retried"),
    },
  });
  queue.add(a);
  queue.add(a);
  await world.advance(20);
  await take();
  await world.advance(5);
  queue.retry(a);
  queue.done(a);
  assert.deepEqual(heard, ["added", "started after 20", "retried", "finished in 5", "added"]);
});

/** What the queue must do, in the simplest words: a list that is scanned. */
function naiveQueue() {
  const dueAt: { key: Key; at: Millis; order: number }[] = [];
  const running = new Set<Key>();
  let order = 0;
  return {
    add(name: Key, at: Millis) {
      const known = dueAt.find((entry) => entry.key === name);
      if (known === undefined) dueAt.push({ key: name, at, order: order++ });
      else known.at = Math.min(known.at, at);
    },
    take(now: Millis): Key | undefined {
      const due = dueAt.filter((entry) => entry.at <= now && !running.has(entry.key));
      const [first] = due.sort((x, y) => x.at - y.at || x.order - y.order);
      if (first === undefined) return undefined;
      dueAt.splice(dueAt.indexOf(first), 1);
      running.add(first.key);
      return first.key;
    },
    done(name: Key) {
      running.delete(name);
      // A key that waited behind its own run joins the others now.
      for (const entry of dueAt) if (entry.key === name) entry.order = order++;
    },
    running,
  };
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    key: fc.integer({ min: 0, max: 8 }),
    ms: fc.constantFrom(0, 0, 5, 20, 40),
  }),
  fc.record({ kind: fc.constant("take" as const) }),
  fc.record({ kind: fc.constant("done" as const), which: fc.nat(8) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 5, 20) }),
);

test("the queue returns the same keys in the same order as a simple list, for any history", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      let now = 0;
      const world = { elapsed: () => now, random: () => 0, after: () => () => undefined };
      const queue = createQueue({ world, backoff: { startMs: 1, maxMs: 1 } });
      const model = naiveQueue();
      const handed: (Key | undefined)[] = [];
      const expected: (Key | undefined)[] = [];
      for (const next of steps) {
        if (next.kind === "wait") now += next.ms;
        if (next.kind === "add") {
          queue.add(key(String(next.key)), next.ms);
          model.add(key(String(next.key)), now + next.ms);
        }
        if (next.kind === "take") {
          handed.push(await takeNow(queue));
          expected.push(model.take(now));
        }
        if (next.kind === "done") {
          const ended = [...model.running][next.which % Math.max(1, model.running.size)];
          if (ended === undefined) continue;
          queue.done(ended);
          model.done(ended);
        }
      }
      assert.deepEqual(handed, expected);
    }),
    { numRuns: 400 },
  ));

/** The key that is due at this instant, without waiting for one. */
function takeNow(queue: ReturnType<typeof createQueue>): Promise<Key | undefined> {
  const stop = new AbortController();
  const next = queue.next(stop.signal);
  stop.abort();
  return next;
}

test("the heap returns keys by date, then by arrival", () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(50))), (puts) => {
      const heap = createHeap();
      const wanted = new Map<string, { at: number; order: number }>();
      for (const [name, at] of puts) {
        const known = wanted.get(String(name));
        assert.equal(heap.put(key(String(name)), at), known === undefined);
        wanted.set(String(name), { at: Math.min(at, known?.at ?? at), order: known?.order ?? wanted.size });
      }
      const sorted = [...wanted].sort(([, x], [, y]) => x.at - y.at || x.order - y.order);
      assert.equal(heap.countUntil(25), sorted.filter(([, { at }]) => at <= 25).length);
      const out: (readonly [string, number])[] = [];
      for (let first = heap.shift(); first !== undefined; first = heap.shift()) out.push([first.key, first.at]);
      assert.deepEqual(
        out,
        sorted.map(([name, { at }]) => [name, at]),
      );
    }),
  ));

test("any number of waiting consumers adds one abort listener, and all return on abort", async () => {
  const queue = createQueue({ world: createVirtualWorld(1), backoff: { startMs: 1, maxMs: 1 } });
  const stop = new AbortController();
  const waiting = Array.from({ length: 1_000 }, () => queue.next(stop.signal));
  assert.equal(getEventListeners(stop.signal, "abort").length, 1);
  stop.abort();
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
});
