/** The cases are what they say: enough, distinct, each with an object that is there, or is said to be missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonRows } from "../../src/api/reasons.ts";
import { stuckCases as cases, objectsOf } from "./answer.ts";
import { idOf } from "./cluster.ts";
import { harmIn } from "./harm.ts";
import { outerCauses } from "./stuck-case.ts";

test("there are at least sixty cases of stuck objects, ten from public threads, and no two are alike", () => {
  assert.ok(cases.length >= 60, `${cases.length} cases`);
  assert.ok(new Set(cases.flatMap(({ thread }) => (thread === undefined ? [] : [thread]))).size >= 10);
  assert.equal(new Set(cases.map(({ given }) => given)).size, cases.length);
});

for (const each of cases)
  test(`given ${each.given}: the case is complete`, () => {
    const ids = objectsOf(each).map(idOf);
    const isServed = !(each.unserved ?? []).includes(each.explain.split(" ")[0] ?? "");
    assert.equal(ids.includes(each.explain), isServed, `${each.explain} is explained`);
    assert.ok(each.cause in reasonRows || (outerCauses as readonly string[]).includes(each.cause));
    assert.deepEqual(harmIn([{ says: each.next.source }], []), []);
  });
