import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../base/json.ts";
import { duplicateFields } from "./duplicates.ts";

const cases: readonly (readonly [text: string, fields: readonly string[]])[] = [
  ['{"a":1,"b":{"a":2}}', []],
  ['{"a":1,"a":2}', ["a"]],
  ['{"spec":{"x":1,"y":[{"z":1,"z":2}],"x":3}}', ["spec.y[0].z", "spec.x"]],
  ['{"a":"\\"a\\":{","a":1}', ["a"]],
  ['{"a":["a","a"],"b":{}}', []],
  ['{ "a": 1, "b": 12345678901234567890 }', []],
  ['{ "a": 1, "a": 1 }', ["a"]],
];
for (const [text, fields] of cases)
  test(`${text} has ${fields.length === 0 ? "no duplicate" : `duplicate ${fields.join(" and ")}`}`, () => {
    assert.deepEqual(
      duplicateFields(text, parse(text)),
      fields.map((field) => `duplicate field "${field}"`),
    );
  });
