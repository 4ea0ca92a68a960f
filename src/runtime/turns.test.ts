import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurns } from "./turns.ts";

test("no more than so many run at once, in the order in which they came, and a failure frees its turn", async () => {
  const turns = createTurns(2);
  const started: number[] = [];
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, index) =>
    turns(async () => {
      started.push(index);
      await promise;
    }).catch(() => undefined),
  );
  await Promise.resolve();
  assert.deepEqual(started, [0, 1]);
  assert.equal(turns.running(), 2);
  ends[1]?.reject(new Error("failed"));
  await all[1];
  assert.deepEqual(started, [0, 1, 2]);
  for (const { resolve } of ends) resolve();
  await Promise.all(all);
  assert.deepEqual(started, [0, 1, 2, 3, 4]);
  assert.equal(turns.running(), 0);
});
