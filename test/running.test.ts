import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRunning, type Event } from "./running.ts";

const limits = { firstMs: 5, againMs: 5, testMs: 200, idleMs: 5 };
const event = (type: string): Event => ({ type, data: { name: "a test", nesting: 0 } });

async function follow(events: AsyncIterable<Event>, lines: string[] = []) {
  const running = createRunning((line) => lines.push(line), limits);
  const seen: string[] = [];
  for await (const { type } of running.follow(events)) seen.push(type);
  return { seen, problem: running.trouble() };
}

test("the runner prints the name of a slow test repeatedly", async () => {
  const lines: string[] = [];
  const { problem: trouble } = await follow(
    (async function* () {
      yield event("test:enqueue");
      yield event("test:dequeue");
      while (lines.length < 2) await sleep(1);
      yield event("test:complete");
    })(),
    lines,
  );
  assert.match(lines[0] ?? "", /^… \d+ s: a test$/);
  assert.equal(trouble, undefined);
});

test("a run that does not end after its last test fails as a leak", async () => {
  const hanging = new AbortController();
  const { seen, problem: trouble } = await follow(
    (async function* () {
      yield event("test:enqueue");
      yield event("test:dequeue");
      yield event("test:complete");
      await sleep(5_000, undefined, { signal: hanging.signal }).catch(() => undefined);
    })(),
  );
  hanging.abort();
  assert.equal(seen.length, 3);
  assert.match(trouble ?? "", /^a test left something open/);
});

test("a test that does not end is named and fails the run", async () => {
  const hanging = new AbortController();
  const { problem: trouble } = await follow(
    (async function* () {
      yield event("test:enqueue");
      yield event("test:dequeue");
      await sleep(60_000, undefined, { signal: hanging.signal }).catch(() => undefined);
    })(),
  );
  hanging.abort();
  assert.equal(trouble, "a test: did not end within 0.2 s");
});
