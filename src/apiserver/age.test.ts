import assert from "node:assert/strict";
import { test } from "node:test";
import { ageSince, humanSpan } from "./age.ts";

const seconds = 1_000;
const cases: readonly (readonly [seconds: number, shown: string])[] = [
  [-5, "<invalid>"],
  [-1, "0s"],
  [0, "0s"],
  [119, "119s"],
  [120, "2m"],
  [150, "2m30s"],
  [60 * 12 + 5, "12m"],
  [3600 * 4 + 60 * 5, "4h5m"],
  [3600 * 30, "30h"],
  [3600 * 24 * 3 + 3600, "3d1h"],
  [3600 * 24 * 400, "400d"],
  [3600 * 24 * 365 * 3 + 3600 * 24, "3y1d"],
  [3600 * 24 * 365 * 9, "9y"],
];
for (const [span, shown] of cases)
  test(`${span} seconds are shown as ${shown}`, () => {
    assert.equal(humanSpan(span * seconds), shown);
  });

test("an age without a timestamp is <unknown>", () => {
  assert.equal(ageSince(undefined, 0), "<unknown>");
  assert.equal(ageSince("1970-01-01T00:00:00Z", 5 * seconds), "5s");
});
