import assert from "node:assert/strict";
import { test } from "node:test";
import { createGate } from "./gate.ts";

test("no more than the bound run at once, in the order they came, and all of them run", async () => {
  const gate = createGate(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const work = (index: number) => async (): Promise<void> => {
    started.push(index);
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
  };
  await Promise.all([0, 1, 2, 3, 4].map((index) => gate(work(index))));
  assert.deepEqual(started, [0, 1, 2, 3, 4]);
  assert.equal(most, 2);
});

test("work that fails gives its place to the next", async () => {
  const gate = createGate(1);
  await assert.rejects(
    gate(async () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(await gate(async () => "next"), "next");
});
