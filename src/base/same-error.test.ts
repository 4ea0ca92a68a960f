import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameError } from "./same-error.ts";

const pairs: readonly [one: string, other: string, same: boolean][] = [
  ["request 17 failed", "request 4711 failed", true],
  ["request 3f2a-99 failed", "request beef-7 failed", false],
  ["request 9f2a-99 failed", "request c0ffee7 failed", true],
  ["disk face-12 is full", "disk face-13 is full", true],
  ["disk face-12 is full", "disk cafe-12 is full", false],
  ["at 12:30:01 away", "at 07:15:59 away", true],
  ["away", "in use", false],
  ["", "away", false],
];
for (const [one, other, same] of pairs)
  test(`"${one}" and "${other}" are ${same ? "the same error" : "two errors"}`, () =>
    assert.equal(isSameError(one, other), same));

test("error texts of a million characters are compared quickly", () => {
  const letters = "abcdef-".repeat(150_000);
  const began = performance.now();
  assert.equal(isSameError(letters, `${letters}z`), false);
  assert.ok(performance.now() - began < 1_000);
});
