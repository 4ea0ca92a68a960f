import assert from "node:assert/strict";
import { test } from "node:test";
import { compareResourceVersions, isNewer, isSameOrOlder } from "./version.ts";

const cases: readonly { a: string; b: string; order: "older" | "same" | "newer" | "unknown" }[] = [
  { a: "9", b: "10", order: "older" },
  { a: "10", b: "9", order: "newer" },
  { a: "12", b: "12", order: "same" },
  { a: "18446744073709551614", b: "18446744073709551615", order: "older" },
  { a: "9007199254740993", b: "9007199254740992", order: "newer" },
  { a: "abc", b: "abc", order: "same" },
  { a: "abc", b: "12", order: "unknown" },
  { a: "012", b: "12", order: "unknown" },
  { a: "", b: "12", order: "unknown" },
];

for (const { a, b, order } of cases)
  test(`version "${a}" beside "${b}" is ${order}`, () => {
    const compared = compareResourceVersions(a, b);
    const sign = compared === undefined ? "unknown" : (["older", "same", "newer"] as const)[Math.sign(compared) + 1];
    assert.equal(sign, order);
    assert.equal(isNewer(a, b), order === "newer");
    assert.equal(isSameOrOlder(a, b), order === "older" || order === "same");
  });
