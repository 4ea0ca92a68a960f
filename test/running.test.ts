import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRunning, type Event } from "./running.ts";

const limits = { firstMs: 5, againMs: 5, idleMs: 5 };
const event = (type: string): Event => ({ type, data: { name: "a test", nesting: 0 } });

async function follow(events: AsyncIterable<Event>, lines: string[] = []) {
  const running = createRunning((line) => lines.push(line), limits);
  const seen: string[] = [];
  for await (const { type } of running.follow(events)) seen.push(type);
  return { seen, leaked: running.leaked() };
}

test("a test that takes long is named while it runs, again and again", async () => {
  const lines: string[] = [];
  const { leaked } = await follow(
    (async function* () {
      yield event("test:enqueue");
      yield event("test:dequeue");
      while (lines.length < 2) await sleep(1);
      yield event("test:complete");
    })(),
    lines,
  );
  assert.match(lines[0] ?? "", /^… \d+ s: a test$/);
  assert.equal(leaked, false);
});

test("a run that does not end after its last test is ended, and called a leak", async () => {
  const hanging = new AbortController();
  const { seen, leaked } = await follow(
    (async function* () {
      yield event("test:enqueue");
      yield event("test:dequeue");
      yield event("test:complete");
      await sleep(5_000, undefined, { signal: hanging.signal }).catch(() => undefined);
    })(),
  );
  hanging.abort();
  assert.deepEqual([seen.length, leaked], [3, true]);
});
