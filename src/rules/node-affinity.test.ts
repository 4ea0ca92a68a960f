import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeMatches } from "./node-affinity.ts";

const node = { metadata: { name: "n1", labels: { zone: "a", cores: "8" } } };
const cases: readonly [string, string, readonly string[] | undefined, boolean][] = [
  ["zone", "In", ["a", "b"], true],
  ["zone", "In", ["b"], false],
  ["rack", "In", ["a"], false],
  ["zone", "NotIn", ["b"], true],
  ["rack", "NotIn", ["b"], true],
  ["zone", "NotIn", ["a"], false],
  ["zone", "Exists", undefined, true],
  ["rack", "Exists", undefined, false],
  ["rack", "DoesNotExist", undefined, true],
  ["cores", "Gt", ["4"], true],
  ["cores", "Lt", ["4"], false],
  ["rack", "Gt", ["4"], false],
  ["zone", "Odd", ["a"], false],
];
for (const [key, operator, values, expected] of cases)
  test(`${key} ${operator} ${values ?? ""} is ${expected}`, () => {
    const requirement = values === undefined ? { key, operator } : { key, operator, values };
    assert.equal(nodeMatches(node, { nodeSelectorTerms: [{ matchExpressions: [requirement] }] }), expected);
  });

test("terms are alternatives, requirements of a term are not, and an empty term matches nothing", () => {
  const inB = { key: "zone", operator: "In", values: ["b"] };
  const named = { key: "metadata.name", operator: "In", values: ["n1"] };
  assert.equal(nodeMatches(node, { nodeSelectorTerms: [{ matchExpressions: [inB] }, { matchFields: [named] }] }), true);
  assert.equal(nodeMatches(node, { nodeSelectorTerms: [{ matchExpressions: [inB], matchFields: [named] }] }), false);
  assert.equal(nodeMatches(node, { nodeSelectorTerms: [{}] }), false);
});
