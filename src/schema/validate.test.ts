import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { correlate } from "./correlate.ts";
import { messageOf } from "./field-error.ts";
import { readSchema } from "./node.ts";
import { validateValue } from "./validate.ts";

const errorsOf = (property: JsonObject, value: JsonValue): readonly string[] =>
  validateValue(readSchema({ type: "object", properties: { x: property } }), { x: value }, undefined).map(messageOf);

interface Row {
  readonly schema: JsonObject;
  readonly value: JsonValue;
  readonly says: readonly string[];
}

const rows: readonly Row[] = [
  { schema: { type: "integer" }, value: 5, says: [] },
  { schema: { type: "integer" }, value: 9007199254740993n, says: [] },
  {
    schema: { type: "integer" },
    value: "5",
    says: ['x: Invalid value: "string": x in body must be of type integer: "string"'],
  },
  {
    schema: { type: "integer" },
    value: 1.5,
    says: [
      'x: Invalid value: "number": x in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in x',
    ],
  },
  {
    schema: { type: "integer", format: "int32" },
    value: 2 ** 31,
    says: ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x'],
  },
  { schema: { type: "number" }, value: 5, says: [] },
  {
    schema: { type: "string" },
    value: null,
    says: ['x: Invalid value: "null": x in body must be of type string: "null"'],
  },
  { schema: { type: "string", nullable: true }, value: null, says: [] },
  {
    schema: { type: "string", enum: ["Delete", "Retain"] },
    value: "x",
    says: ['x: Unsupported value: "x": supported values: "Delete", "Retain"'],
  },
  {
    schema: { type: "string", nullable: true, enum: ["a"] },
    value: null,
    says: ['x: Unsupported value: null: supported values: "a"'],
  },
  { schema: { type: "string", maxLength: 2 }, value: "abc", says: ["x: Too long: may not be more than 2 bytes"] },
  { schema: { type: "string", maxLength: 2 }, value: "😀é", says: [] },
  {
    schema: { type: "string", minLength: 2 },
    value: "a",
    says: ['x: Invalid value: "a": x in body should be at least 2 chars long'],
  },
  {
    schema: { type: "string", pattern: "^a+$" },
    value: "b",
    says: [`x: Invalid value: "b": x in body should match '^a+$'`],
  },
  {
    schema: { type: "string", format: "date-time" },
    value: "yesterday",
    says: ['x: Invalid value: "yesterday": x in body must be of type date-time: "yesterday"'],
  },
  {
    schema: { type: "string", format: "date-time" },
    value: 5,
    says: ['x: Invalid value: "int64": x in body must be of type date-time: "int64"'],
  },
  {
    schema: { type: "integer", minimum: 3 },
    value: 2,
    says: ["x: Invalid value: 2: x in body should be greater than or equal to 3"],
  },
  {
    schema: { type: "integer", minimum: 3, exclusiveMinimum: true },
    value: 3,
    says: ["x: Invalid value: 3: x in body should be greater than 3"],
  },
  {
    schema: { type: "number", maximum: 1.5, exclusiveMaximum: true },
    value: 1.5,
    says: ["x: Invalid value: 1.5: x in body should be less than 1.5"],
  },
  {
    schema: { type: "integer", multipleOf: 4 },
    value: 6,
    says: ["x: Invalid value: 6: x in body should be a multiple of 4"],
  },
  {
    schema: { type: "array", items: { type: "string" }, maxItems: 1 },
    value: ["a", "b"],
    says: ["x: Too many: 2: must have at most 1 item"],
  },
  {
    schema: { type: "array", items: { type: "string" }, minItems: 1 },
    value: [],
    says: ["x: Invalid value: 0: x in body should have at least 1 items"],
  },
  {
    schema: { type: "array", items: { type: "integer" } },
    value: [1, "b"],
    says: ['x[1]: Invalid value: "string": x[1] in body must be of type integer: "string"'],
  },
  {
    schema: { type: "object", additionalProperties: { type: "string" } },
    value: { a: 1 },
    says: ['x.a: Invalid value: "integer": x.a in body must be of type string: "integer"'],
  },
  {
    schema: { type: "object", maxProperties: 0, additionalProperties: true },
    value: { a: 1 },
    says: ["x: Too many: 1: must have at most 0 items"],
  },
  {
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
    value: {},
    says: ["x.a: Required value", "x.b: Required value"],
  },
  { schema: { "x-kubernetes-int-or-string": true }, value: "5%", says: [] },
  {
    schema: { "x-kubernetes-int-or-string": true },
    value: true,
    says: ['x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"'],
  },
  {
    schema: { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    value: {},
    says: [
      '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid',
      "x.a: Required value",
    ],
  },
  {
    schema: { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    value: { a: 1, b: 1 },
    says: ['<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  },
  {
    schema: { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    value: { b: 1 },
    says: [],
  },
  {
    schema: { type: "string", allOf: [{ minLength: 3 }, { pattern: "z" }] },
    value: "az",
    says: [
      'x: Invalid value: "az": x in body should be at least 3 chars long',
      '<nil>: Invalid value: "": "x" must validate all the schemas (allOf)',
    ],
  },
  {
    schema: { type: "string", not: { enum: ["a"] } },
    value: "a",
    says: ['<nil>: Invalid value: "": "x" must not validate the schema (not)'],
  },
];

for (const { schema, value, says } of rows)
  test(`${JSON.stringify(schema)} says to ${JSON.stringify(value, (_, v) => (typeof v === "bigint" ? String(v) : v))}: ${says.join(" and ") || "fine"}`, () =>
    assert.deepEqual(errorsOf(schema, value), says));

const ratcheted = readSchema({
  type: "object",
  properties: {
    name: { type: "string", maxLength: 2 },
    list: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: {
        type: "object",
        required: ["k"],
        properties: { k: { type: "string" }, v: { type: "string", maxLength: 1 } },
      },
    },
    plain: { type: "array", items: { type: "string", maxLength: 1 } },
  },
});
const afterUpdate = (old: JsonObject, now: JsonObject): readonly string[] =>
  validateValue(ratcheted, now, correlate(ratcheted, now, old)).map(messageOf);

test("an unchanged invalid value is tolerated", () => {
  assert.deepEqual(afterUpdate({ name: "long" }, { name: "long" }), []);
  assert.deepEqual(afterUpdate({ name: "long" }, { name: "longer" }), ["name: Too long: may not be more than 2 bytes"]);
});

test("entries of a keyed list are tolerated one by one, those of a plain list only all together", () => {
  const bad = { k: "a", v: "zz" };
  assert.deepEqual(afterUpdate({ list: [bad] }, { list: [{ k: "b" }, bad] }), []);
  assert.equal(afterUpdate({ list: [bad] }, { list: [{ ...bad, v: "zzz" }] }).length, 1);
  assert.deepEqual(afterUpdate({ plain: ["zz"], name: "a" }, { plain: ["zz"], name: "b" }), []);
  assert.equal(afterUpdate({ plain: ["zz"] }, { plain: ["zz", "a"] }).length, 1);
});

test("an identical stored part is validated like an equal one, also inside of anyOf and oneOf", () => {
  const part = { type: "object", properties: { n: { type: "integer", maximum: 3 }, s: { type: "string" } } };
  const far = { properties: { kind: { enum: ["other"] }, part: { ...part, maxProperties: 0 } } };
  const near = { properties: { kind: { enum: ["these"] }, part } };
  const schema = readSchema({ type: "object", anyOf: [far, near], properties: { kind: { type: "string" }, part } });
  const told = (now: JsonObject, old: JsonObject): readonly string[] =>
    validateValue(schema, now, correlate(schema, now, old)).map(messageOf);
  for (const stored of [{ n: 1 }, { n: 5, s: "a" }, { n: "five", s: 1 }]) {
    const old: JsonObject = { kind: "these", part: stored };
    for (const kind of ["these", "neither"])
      assert.deepEqual(told({ kind, part: stored }, old), told({ kind, part: { ...stored } }, old));
  }
});

test("errors of a status have paths below status", () => {
  const schema = readSchema({ type: "object", properties: { n: { type: "integer" } } });
  assert.deepEqual(validateValue(schema, { n: "a" }, undefined, "status").map(messageOf), [
    'status.n: Invalid value: "string": n in body must be of type integer: "string"',
  ]);
});
