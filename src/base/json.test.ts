import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyMergePatch, clone, difference, equal, type JsonObject, type JsonValue, parse, print } from "./json.ts";

test("an integer beyond 2^53 survives parse and print, digit for digit", () => {
  for (const number of ["1763200000123456789", "-9223372036854775808", "18446744073709551615", "9007199254740993"]) {
    const text = `{"creationTime":${number},"small":1}`;
    assert.equal(print(parse(text)), text);
  }
});

test("digits in strings, fractions and exponents are unchanged", () => {
  const text = '{"id":"1763200000123456789","pi":3.1415926535897931,"big":1e+300}';
  assert.deepEqual(parse(text), JSON.parse(text));
});

test("__proto__ is a key like any other", () => {
  const value = parse('{"__proto__":{"polluted":true}}') as JsonObject;
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.equal(print(applyMergePatch({}, value)), '{"__proto__":{"polluted":true}}');
  assert.equal(print(difference({}, value)), '{"__proto__":{"polluted":true}}');
});

/** Values as an API server can hold them: no null members, because a merge patch cannot write one. */
const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.integer(),
    fc.bigInt(2n ** 53n + 1n, 2n ** 63n),
    fc.string(),
    fc.array(tie("value"), { maxLength: 3 }) as fc.Arbitrary<JsonValue>,
    tie("object"),
  ),
  object: fc.dictionary(fc.oneof(fc.constantFrom("a", "b", "c", "__proto__"), fc.string()), tie("value"), {
    maxKeys: 4,
  }) as fc.Arbitrary<JsonObject>,
}));

test("parse undoes print for every value", () => {
  fc.assert(fc.property(object, (value) => equal(parse(print(value)), value)));
});

test("applying a difference gives the wanted object, for every pair", () => {
  fc.assert(fc.property(object, object, (from, to) => equal(applyMergePatch(from, difference(from, to) ?? {}), to)));
});

test("equal objects have no difference, and different ones do", () => {
  fc.assert(fc.property(object, object, (a, b) => (difference(a, b) === undefined) === equal(a, b)));
});

test("a difference names only what changed, and clears with null", () => {
  const from = { keep: 1, change: { a: 1, b: 2 }, drop: true, list: [1] };
  const to = { keep: 1, change: { a: 1, b: 3 }, list: [1, 2], add: "x" };
  assert.deepEqual(difference(from, to), { change: { b: 3 }, drop: null, list: [1, 2], add: "x" });
});

test("undefined members count as absent, and a BigInt equals the same number", () => {
  assert.equal(equal({ a: undefined }, {}), true);
  assert.equal(equal({ a: 5n }, { a: 5 }), true);
  assert.equal(equal({ a: null }, {}), false);
  assert.equal(equal([], {}), false);
});

test("a clone is deep, keeps BigInts, and a __proto__ member stays data", () => {
  const original = parse('{"a":[{"b":12345678901234567890}],"__proto__":{"x":1}}') as { a: [{ b: unknown }] };
  const copy = clone(original);
  assert.equal(print(copy), print(original));
  copy.a[0].b = 1;
  assert.equal(original.a[0].b, 12345678901234567890n);
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
});
