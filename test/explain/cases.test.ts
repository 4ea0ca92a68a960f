/** The cases are what they say: enough, distinct, each with an object that is there, or is said to be missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonRows } from "../../src/api/reasons.ts";
import { claimCases } from "./cases/claims.ts";
import { deletionCases } from "./cases/deletions.ts";
import { shareCases } from "./cases/shares.ts";
import { snapshotCases } from "./cases/snapshots.ts";
import { clusterWith, idOf } from "./cluster.ts";
import { alwaysHarmful, outerCauses } from "./stuck-case.ts";

const cases = [...snapshotCases, ...deletionCases, ...claimCases, ...shareCases];

test("there are at least sixty cases of stuck objects, ten from public threads, and no two are alike", () => {
  assert.ok(cases.length >= 60, `${cases.length} cases`);
  assert.ok(new Set(cases.flatMap(({ thread }) => (thread === undefined ? [] : [thread]))).size >= 10);
  assert.equal(new Set(cases.map(({ given }) => given)).size, cases.length);
});

for (const each of cases)
  test(`given ${each.given}: the case is complete`, () => {
    const ids = clusterWith(each.objects, each.gone).map(idOf);
    const isServed = !(each.unserved ?? []).includes(each.explain.split(" ")[0] ?? "");
    assert.equal(ids.includes(each.explain), isServed, `${each.explain} is explained`);
    assert.ok(each.cause in reasonRows || (outerCauses as readonly string[]).includes(each.cause));
    assert.doesNotMatch(each.next.source, alwaysHarmful);
  });
