import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClaimSelector } from "../api/types.ts";
import { isClaimSelected, selectorProblem } from "./label-selector.ts";

const expression = (operator: string, values?: readonly string[]): ClaimSelector => ({
  matchExpressions: [{ key: "tier", operator, ...(values === undefined ? {} : { values }) }],
});
const db = { app: "db", tier: "a" };
const rows: readonly [ClaimSelector, Record<string, string>, boolean][] = [
  [{ matchLabels: { app: "db" } }, db, true],
  [{ matchLabels: { app: "db", tier: "b" } }, db, false],
  [expression("In", ["a", "b"]), db, true],
  [expression("In", ["b"]), db, false],
  [expression("In", ["b"]), {}, false],
  [expression("NotIn", ["b"]), db, true],
  [expression("NotIn", ["a"]), db, false],
  [expression("NotIn", ["a"]), {}, true],
  [expression("Exists"), db, true],
  [expression("Exists"), {}, false],
  [expression("DoesNotExist"), {}, true],
  [expression("DoesNotExist"), db, false],
  [{ matchLabels: { app: "db" }, ...expression("In", ["b"]) }, db, false],
  [{ matchLabels: { constructor: "x" } }, {}, false],
];
for (const [selector, labels, selects] of rows)
  test(`${JSON.stringify(selector)} ${selects ? "selects" : "leaves"} ${JSON.stringify(labels)}`, () =>
    assert.equal(isClaimSelected(selector, labels), selects));

for (const selector of [
  {},
  { matchLabels: {} },
  expression("Like", ["a"]),
  expression("In"),
  expression("Exists", ["a"]),
])
  test(`${JSON.stringify(selector)} selects nothing, and says why`, () => {
    assert.ok(selectorProblem(selector));
    assert.equal(isClaimSelected(selector, db), false);
  });
