import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration, printDuration } from "./duration.ts";

const durations: readonly (readonly [string, number, string])[] = [
  ["0", 0, "0s"],
  ["15m", 900_000, "15m"],
  ["15m0s", 900_000, "15m"],
  ["1m30s", 90_000, "1m30s"],
  ["1h0m0.5s", 3_600_500, "1h0.5s"],
  ["500ms", 500, "500ms"],
  ["1500us", 1.5, "1.5ms"],
  ["100µs", 0.1, "0.1ms"],
  [".5s", 500, "500ms"],
  ["8.091s", 8_091, "8.091s"],
  ["-2s", -2_000, "-2s"],
  ["+2s", 2_000, "2s"],
];
for (const [text, ms, printed] of durations)
  test(`"${text}" is ${ms} ms and prints as "${printed}"`, () => {
    assert.equal(parseDuration(text), ms);
    assert.equal(printDuration(ms), printed);
  });

for (const text of ["", "5", "1d", "s", "1 s", "1s ", "-", "1m30", "1..5s", "--1s"])
  test(`"${text}" is not a duration`, () => assert.equal(parseDuration(text), undefined));
