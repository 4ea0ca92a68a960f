import assert from "node:assert/strict";
import { test } from "node:test";
import { aSnapshot } from "../../../test/builders.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import { createDeletedSnapshots } from "./deleted-snapshots.ts";

const uid = aSnapshot().metadata.uid;
const rows: readonly [given: string, before: VolumeSnapshot, after: VolumeSnapshot | undefined, untold: boolean][] = [
  ["a snapshot that went without a status", aSnapshot(), undefined, true],
  ["one that went with an error", aSnapshot({ status: { error: { message: "x" } } }), undefined, true],
  ["one that went when it was cut", aSnapshot({ status: { creationTime: "2026-01-01T00:00:00Z" } }), undefined, false],
  ["one that went when it was ready", aSnapshot({ status: { readyToUse: true } }), undefined, false],
  ["one that changed", aSnapshot(), aSnapshot(), false],
];
for (const [given, before, after, untold] of rows)
  test(`${given} ${untold ? "disappeared" : "did not disappear"} before it was reported as taken`, () => {
    const deletedSnapshots = createDeletedSnapshots();
    deletedSnapshots.see(before, after);
    assert.equal(deletedSnapshots.wasDeletedUnready(uid), untold);
  });

test("a snapshot that reappears is not remembered as deleted", () => {
  const departed = createDeletedSnapshots();
  departed.see(aSnapshot(), undefined);
  departed.see(undefined, aSnapshot());
  assert.equal(departed.wasDeletedUnready(uid), false);
});

test("the memory is bounded and drops the oldest entry first", () => {
  const departed = createDeletedSnapshots(2);
  for (const name of ["a", "b", "c"]) departed.see(aSnapshot({ metadata: { uid: name } }), undefined);
  assert.deepEqual(
    ["a", "b", "c"].map((name) => departed.wasDeletedUnready(name)),
    [false, true, true],
  );
});
