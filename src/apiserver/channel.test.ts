import assert from "node:assert/strict";
import { test } from "node:test";
import { createChannel } from "./channel.ts";

const bounds = { textsMax: 10, charsMax: 10 };

test("a channel delivers texts in order and in batches, then its end", async () => {
  const channel = createChannel(bounds, () => undefined);
  channel.push("1");
  channel.push("2");
  channel.close();
  assert.equal(channel.push("3"), false);
  assert.deepEqual(await Array.fromAsync(channel), ["12"]);
});

test("a reader that is too far behind is disconnected, and nothing is buffered for it", async () => {
  let closed = 0;
  const channel = createChannel({ ...bounds, textsMax: 2 }, () => {
    closed += 1;
  });
  assert.deepEqual(["1", "2", "3"].map(channel.push), [true, true, false]);
  assert.equal(closed, 1);
  assert.deepEqual(await Array.fromAsync(channel), []);
});

test("a reader is disconnected when too many characters are buffered behind the first text, which may have any size", async () => {
  const channel = createChannel(bounds, () => undefined);
  const reader = channel[Symbol.asyncIterator]();
  const large = "x".repeat(100);
  assert.ok(channel.push(large) && channel.push("12345") && channel.push("67890"));
  await reader.next();
  assert.ok(channel.push(large) && channel.push("1234567890"));
  assert.equal(channel.push("1"), false);
  assert.equal((await reader.next()).done, true);
});

test("a reader that stops reading closes the channel once", async () => {
  let closed = 0;
  const channel = createChannel({ ...bounds, textsMax: 2 }, () => {
    closed += 1;
  });
  channel.push("1");
  for await (const _ of channel) break;
  channel.close();
  assert.equal(closed, 1);
});

test("a waiting reader gets the next text", async () => {
  const channel = createChannel({ ...bounds, textsMax: 2 }, () => undefined);
  const next = channel[Symbol.asyncIterator]().next();
  await Promise.resolve();
  channel.push("7");
  assert.deepEqual(await next, { value: "7", done: false });
});

test("a reader that leaves before it has read anything closes the channel", async () => {
  let closed = 0;
  const channel = createChannel({ ...bounds, textsMax: 2 }, () => {
    closed += 1;
  });
  await channel[Symbol.asyncIterator]().return?.();
  assert.equal(closed, 1);
});
