import assert from "node:assert/strict";
import { test } from "node:test";
import { microTime, millisOf, rfc3339 } from "./time.ts";

test("a time is written at whole seconds, a microtime with exactly six fraction digits", () => {
  assert.equal(rfc3339(1_750_000_000_987), "2025-06-15T15:06:40Z");
  assert.equal(microTime(1_750_000_000_007), "2025-06-15T15:06:40.007000Z");
  assert.equal(microTime(1_750_000_000_000), "2025-06-15T15:06:40.000000Z");
});

test("a time is read as it was written, and what is no time has none", () => {
  assert.equal(millisOf("2025-06-15T15:06:40Z"), 1_750_000_000_000);
  for (const text of [undefined, "", "then"]) assert.equal(millisOf(text), undefined);
});
