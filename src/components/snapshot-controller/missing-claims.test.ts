import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../../test/builders.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { createMissingClaims } from "./missing-claims.ts";
import { restoredSnapshotKeys } from "./restoring.ts";

const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
const waiting = (name = "copy", change: Parameters<typeof aClaim>[0] = {}): PersistentVolumeClaim =>
  aClaim({
    spec: { dataSource: source },
    status: { phase: "Pending" },
    ...change,
    metadata: { name, ...change.metadata },
  });
/** All that is kept of a claim. */
const nameOf = ({ metadata: { namespace, name } }: PersistentVolumeClaim) => ({ namespace, name });
const monday = keyIn(waiting().metadata.namespace, "monday");

const rows: readonly [
  given: string,
  before: PersistentVolumeClaim,
  after: PersistentVolumeClaim | undefined,
  missed: boolean,
][] = [
  ["a claim that waited and is not there", waiting(), undefined, true],
  ["one that has its volume and is not there", waiting("copy", { status: { phase: "Bound" } }), undefined, false],
  [
    "one that was being deleted",
    waiting("copy", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    undefined,
    false,
  ],
  ["one that restores nothing", aClaim({ status: { phase: "Pending" } }), undefined, false],
  ["one that changed", waiting(), waiting(), false],
];
for (const [given, before, after, missed] of rows)
  test(`${given} is ${missed ? "" : "not "}remembered as missing`, () => {
    const missingClaims = createMissingClaims(restoredSnapshotKeys);
    missingClaims.see(before, after);
    assert.deepEqual(missingClaims.from(monday), missed ? [nameOf(before)] : []);
  });

test("a claim that reappears is no longer missing, other claims of the same snapshot are", () => {
  const vanished = createMissingClaims(restoredSnapshotKeys);
  const [first, second] = [waiting("first"), waiting("second")];
  for (const claim of [first, second]) vanished.see(claim, undefined);
  assert.deepEqual(vanished.from(monday), [nameOf(first), nameOf(second)]);
  vanished.see(undefined, first);
  assert.deepEqual(vanished.from(monday), [nameOf(second)]);
  vanished.see(undefined, second);
  assert.deepEqual(vanished.from(monday), []);
});

test("the memory is bounded and drops the oldest entry first", () => {
  const vanished = createMissingClaims(restoredSnapshotKeys, 2);
  for (const name of ["a", "b", "c"])
    vanished.see(waiting(`copy-of-${name}`, { spec: { dataSource: { ...source, name } } }), undefined);
  const missed = (name: string) => vanished.from(keyIn(waiting().metadata.namespace, name)).length;
  assert.deepEqual(["a", "b", "c"].map(missed), [0, 1, 1]);
});

test("the memory of one snapshot with many restores is bounded", () => {
  const vanished = createMissingClaims(restoredSnapshotKeys, 2);
  for (const name of ["a", "b", "c"]) vanished.see(waiting(name), undefined);
  assert.deepEqual(
    vanished.from(monday).map(({ name }) => name),
    ["b", "c"],
  );
});

test("one bound applies to all snapshots and claims together", () => {
  const vanished = createMissingClaims(restoredSnapshotKeys, 3);
  for (const name of ["a", "b"])
    for (const copy of ["x", "y", "z"])
      vanished.see(waiting(`${copy}-of-${name}`, { spec: { dataSource: { ...source, name } } }), undefined);
  assert.equal(vanished.size(), 3);
  const missed = (name: string) => vanished.from(keyIn(waiting().metadata.namespace, name)).length;
  assert.deepEqual(["a", "b"].map(missed), [0, 3]);
});
