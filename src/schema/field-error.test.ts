import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aggregate,
  causesOf,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  messageOf,
  notSupported,
  omitted,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";
import { goJson, goNumber, goQuote } from "./go-text.ts";

const sentences: readonly { error: FieldError; reads: string }[] = [
  { error: required("spec.source"), reads: "spec.source: Required value" },
  { error: required("spec.source", "name one"), reads: "spec.source: Required value: name one" },
  {
    error: notSupported("spec.deletionPolicy", "x", ["Delete", "Retain"]),
    reads: 'spec.deletionPolicy: Unsupported value: "x": supported values: "Delete", "Retain"',
  },
  {
    error: typeInvalid("spec.x", "string", 'spec.x in body must be of type integer: "string"'),
    reads: 'spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"',
  },
  { error: invalid("spec", omitted, "no"), reads: "spec: Invalid value: no" },
  { error: invalid("spec.n", 1.5, "no"), reads: "spec.n: Invalid value: 1.5: no" },
  { error: invalid("spec.n", 9007199254740993n, "no"), reads: "spec.n: Invalid value: 9007199254740993: no" },
  { error: invalid("spec", { b: 1, a: ["<"] }, "no"), reads: 'spec: Invalid value: {"a":["\\u003c"],"b":1}: no' },
  { error: tooLong("spec.s", 1), reads: "spec.s: Too long: may not be more than 1 byte" },
  { error: tooMany("spec.l", 3, 2), reads: "spec.l: Too many: 3: must have at most 2 items" },
  { error: duplicate("spec.l[1]", "a"), reads: 'spec.l[1]: Duplicate value: "a"' },
  { error: forbidden("spec.f", "not now"), reads: "spec.f: Forbidden: not now" },
  { error: invalid("<nil>", null, "all"), reads: "<nil>: Invalid value: null: all" },
];
for (const { error, reads } of sentences) test(`an error reads: ${reads}`, () => assert.equal(messageOf(error), reads));

test("several errors print as a list without duplicates", () => {
  const twice = [required("a"), required("a"), required("b")];
  assert.equal(aggregate(twice), "[a: Required value, b: Required value]");
  assert.equal(causesOf(twice).length, 3);
});

test("strings are quoted as strconv.Quote does", () => {
  assert.equal(goQuote('a"b\n\x00\x7fü\u200b😀'), '"a\\"b\\n\\x00\\x7fü\\u200b😀"');
});

const numbers: readonly [number, string][] = [
  [0, "0"],
  [1, "1"],
  [1.5, "1.5"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [9e15, "9000000000000000"],
  [1234567.5, "1.2345675e+06"],
  [123456.5, "123456.5"],
  [1e20, "1e+20"],
  [1e21, "1e+21"],
  [-2.5e-7, "-2.5e-07"],
];
for (const [value, text] of numbers)
  test(`the number ${text} is printed as Go prints it`, () => assert.equal(goNumber(value), text));

test("JSON inside of a message has sorted keys and escaped angle brackets", () => {
  assert.equal(goJson({ b: "<&>", a: 1n, c: undefined }), '{"a":1,"b":"\\u003c\\u0026\\u003e"}');
});
