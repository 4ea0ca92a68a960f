import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "./fault.ts";
import { binaryQuantity, compareQuantities, parseQuantity, printQuantity, wholeUnits } from "./quantity.ts";

const canonical = (text: string): string => printQuantity(parseQuantity(text));

test("a quantity that Kubernetes prints is printed unchanged", () => {
  for (const text of [
    "0",
    "1",
    "512",
    "1Ki",
    "1536Mi",
    "10Gi",
    "1500m",
    "100k",
    "12e6",
    "-3",
    "107374182400m",
    "1n",
    "9223372036854775807",
  ])
    assert.equal(canonical(text), text);
});

test("other spellings of a quantity become the canonical spelling", () => {
  const cases: readonly [string, string][] = [
    ["1024Mi", "1Gi"],
    ["0.5Gi", "512Mi"],
    ["0.1Gi", "107374182400m"],
    ["+1", "1"],
    ["1.5", "1500m"],
    ["1000", "1k"],
    ["1000000", "1M"],
    ["1e3", "1e3"],
    ["1E3", "1e3"],
    ["1e2", "100"],
    ["0.5Ki", "512"],
    [".5", "500m"],
    ["1.", "1"],
    ["0.0000000001", "1n"],
    ["8Ei", "9223372036854775807"],
    ["0.0001Ki", "102400u"],
  ];
  for (const [text, wanted] of cases) assert.equal(canonical(text), wanted, text);
});

test("an invalid quantity is rejected with the reason and an example", () => {
  for (const text of [
    "",
    " ",
    "1_000",
    "1.1.1",
    "Gi",
    "1gi",
    "1 Gi",
    "abc",
    "0x10",
    "1e",
    "--1",
    "1e999999999",
    "1toString",
    "1constructor",
  ])
    assert.throws(
      () => parseQuantity(text),
      (fault: unknown) => fault instanceof Fault && fault.message.includes("is not a quantity"),
      text,
    );
});

test("any value survives print and parse exactly", () => {
  const quantities = fc.record({
    nanos: fc.bigInt(-(2n ** 62n), 2n ** 62n),
    format: fc.constantFrom("decimal" as const, "exponent" as const),
  });
  fc.assert(fc.property(quantities, (quantity) => parseQuantity(printQuantity(quantity)).nanos === quantity.nanos));
});

test("any number of bytes survives print and parse in binary", () => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 2n ** 63n - 1n),
      (bytes) => wholeUnits(parseQuantity(printQuantity(binaryQuantity(bytes)))) === bytes,
    ),
  );
});

test("comparison follows the value, not the spelling", () => {
  assert.equal(compareQuantities(parseQuantity("1Gi"), parseQuantity("1024Mi")), 0);
  assert.equal(compareQuantities(parseQuantity("1G"), parseQuantity("1Gi")), -1);
  assert.equal(compareQuantities(parseQuantity("2"), parseQuantity("1500m")), 1);
});

test("whole units are rounded up", () => {
  assert.equal(wholeUnits(parseQuantity("1500m")), 2n);
  assert.equal(wholeUnits(parseQuantity("-1500m")), -1n);
  assert.equal(wholeUnits(parseQuantity("1Gi")), 1073741824n);
});
