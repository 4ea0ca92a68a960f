import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse, print } from "./json.ts";
import { mayHoldLargeInteger } from "./json-scan.ts";

/** What a reviver that sees the source of every number makes of a text: slow, and plainly right. */
const keepLarge = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
    ? BigInt(context?.source ?? "")
    : value;

const number = fc.oneof(
  fc.bigInt(-(2n ** 70n), 2n ** 70n).map(String),
  fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n).map(String),
  fc.constantFrom("9007199254740992.0", "9.007199254740992e15", "1e300", "-0", "0.5", "1E-7", "123456789012345678.5"),
);
const text = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    number,
    fc
      .oneof(fc.string(), fc.constantFrom('":12345678901234567890,', '\\"', "[9007199254740993]", "\\"))
      .map((s) => JSON.stringify(s)),
    fc.constantFrom("true", "false", "null"),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc
      .array(fc.tuple(fc.oneof(fc.string(), fc.constantFrom("__proto__", "1", "0")), tie("value")), { maxLength: 4 })
      .map((rows) => `{${rows.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(", ")}}`),
  ),
})).value;

test("parse gives what a reviver with the source of every number gives, for every text", () => {
  fc.assert(
    fc.property(text, (json) => {
      assert.equal(print(parse(json)), print(JSON.parse(json, keepLarge)));
    }),
    { numRuns: 1_000 },
  );
});

test("a run of sixteen digits is found wherever it stands, and fifteen are not enough", () => {
  for (let before = 0; before < 40; before++) {
    assert.equal(mayHoldLargeInteger(`${" ".repeat(before)}1234567890123456`), true);
    assert.equal(mayHoldLargeInteger(`${" ".repeat(before)}123456789012345 12345`), false);
  }
});
