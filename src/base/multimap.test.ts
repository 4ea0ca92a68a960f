import assert from "node:assert/strict";
import { test } from "node:test";
import { createMultimap } from "./multimap.ts";

test("a key has the values that were added and not deleted, each once and in order", () => {
  const map = createMultimap<string, number>();
  for (const value of [3, 1, 3, 2]) map.add("a", value);
  map.add("b", 9);
  map.delete("a", 1);
  assert.deepEqual([[...map.get("a")], [...map.get("b")]], [[3, 2], [9]]);
});

test("deleting what is not there changes nothing", () => {
  const map = createMultimap<string, number>();
  map.add("a", 1);
  map.delete("a", 2);
  map.delete("b", 1);
  assert.deepEqual([[...map.get("a")], [...map.get("b")]], [[1], []]);
});

test("a key is forgotten with its last value, and can come back", () => {
  const map = createMultimap<string, number>();
  map.add("a", 1);
  map.add("b", 2);
  map.delete("a", 1);
  assert.equal([...map.sets()].length, 1);
  map.add("a", 3);
  assert.deepEqual(
    [...map.sets()].map((set) => [...set]),
    [[2], [3]],
  );
});

test("keys are compared as they are, not as texts", () => {
  const map = createMultimap<unknown, string>();
  map.add(1, "number");
  map.add("1", "text");
  assert.deepEqual([...map.get(1)], ["number"]);
});
