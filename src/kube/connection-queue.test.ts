import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnectionQueue } from "./connection-queue.ts";

function recorded(atOnceMax: number) {
  const queue = createConnectionQueue(atOnceMax);
  const begun: string[] = [];
  const take = (name: string): (() => void) =>
    queue.take({ begin: () => void begun.push(name), fail: () => void begun.push(`${name} failed`) });
  return { queue, begun, take };
}

test("the connection queue has a limit, is first come first served, and a double release frees one slot", () => {
  const { begun, take } = recorded(2);
  const [a] = [take("a"), take("b"), take("c"), take("d")];
  assert.deepEqual(begun, ["a", "b"]);
  a?.();
  a?.();
  assert.deepEqual(begun, ["a", "b", "c"]);
});

test("an aborted wait is skipped", () => {
  const { begun, take } = recorded(1);
  const [a, b] = [take("a"), take("b"), take("c")];
  b?.();
  a?.();
  assert.deepEqual(begun, ["a", "c"]);
});

test("a released slot goes to the next request, and clearing fails the waiting ones", () => {
  const { queue, begun, take } = recorded(1);
  queue.take({ begin: (leave) => leave(), fail: () => assert.fail() });
  take("a");
  take("b");
  queue.clear();
  assert.deepEqual(begun, ["a", "b failed"]);
});
