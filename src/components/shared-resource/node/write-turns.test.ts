import assert from "node:assert/strict";
import { test } from "node:test";
import { createWriteTurns } from "./write-turns.ts";

function setUp(atOnceMax = 2) {
  const called: string[] = [];
  return { called, turns: createWriteTurns(atOnceMax, (id) => called.push(id)) };
}

test("so many volumes are written at once; the others are told in the order in which they came", () => {
  const { called, turns } = setUp();
  assert.deepEqual(["a", "b", "c", "d"].map(turns.take), [true, true, false, false]);
  assert.equal(turns.take("d"), false, "asking again brings nothing forward");
  turns.end();
  assert.deepEqual(called, ["c"]);
  assert.deepEqual([turns.take("e"), turns.take("c")], [false, true], "the turn is kept for whom it was called");
  turns.end();
  assert.deepEqual(called, ["c", "d"]);
});

test("a turn that is not needed any more goes to the next", () => {
  const { called, turns } = setUp(1);
  for (const id of ["a", "b", "c"]) turns.take(id);
  turns.end();
  turns.passOn("a");
  assert.deepEqual(called, ["b"]);
  turns.passOn("b");
  assert.deepEqual(called, ["b", "c"]);
  turns.passOn("c");
  assert.equal(turns.take("d"), true);
});

test("a volume that got its turn without being called is not called later", () => {
  const { called, turns } = setUp(1);
  for (const id of ["a", "b"]) turns.take(id);
  turns.end();
  assert.equal(turns.take("b"), true);
  turns.end();
  assert.deepEqual(called, ["b"]);
});
