import assert from "node:assert/strict";
import { test } from "node:test";
import { aSnapshot } from "../../../test/builders.ts";
import { finalizers } from "../../api/names.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import type { Key } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { createMissingSnapshots } from "./missing-snapshots.ts";
import { claimKeyOf } from "./observe.ts";

type Change = NonNullable<Parameters<typeof aSnapshot>[0]>;
const taken = (change: Change = {}): VolumeSnapshot =>
  aSnapshot({ ...change, metadata: { finalizers: [finalizers.snapshotAsSource], ...change.metadata } });
const claim = claimKeyOf(taken()) as Key;
const nameOf = ({ metadata: { namespace, name } }: VolumeSnapshot) => ({ namespace, name });

const rows: readonly [given: string, before: VolumeSnapshot, after: VolumeSnapshot | undefined, missed: boolean][] = [
  ["a snapshot that was being taken", taken(), undefined, true],
  ["one with an error", taken({ status: { readyToUse: false, error: { message: "full" } } }), undefined, true],
  ["one that was ready", taken({ status: { readyToUse: true } }), undefined, false],
  ["one that was being deleted", taken({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }), undefined, false],
  ["one without our finalizer", taken({ metadata: { finalizers: [] } }), undefined, false],
  ["one of a content", taken({ spec: { source: { volumeSnapshotContentName: "given" } } }), undefined, false],
  ["one that changed", taken(), taken(), false],
];
for (const [given, before, after, missed] of rows)
  test(`${given} is ${missed ? "" : "not "}remembered as missing`, () => {
    const missing = createMissingSnapshots();
    missing.see(before, after);
    assert.deepEqual(missing.of(claim), missed ? [nameOf(before)] : []);
    assert.deepEqual(missing.of("default/other" as Key), []);
  });

test("a snapshot that is back is no longer missed; an earlier one of its name does not stand for it", () => {
  const missing = createMissingSnapshots();
  missing.see(taken({ metadata: { uid: "second" } }), undefined);
  missing.see(undefined, taken({ metadata: { uid: "first" } }));
  assert.equal(missing.of(claim).length, 1);
  missing.see(undefined, taken({ metadata: { uid: "second" } }));
  assert.deepEqual(missing.of(claim), []);
});

test("what the server has confirmed is not asked again, what it denies or was not asked for is", async () => {
  const missing = createMissingSnapshots();
  missing.see(taken(), undefined);
  const { namespace, name } = nameOf(taken());
  const ask = (change: object, answer: () => Promise<void> = async () => undefined) =>
    missing.around(answer)(
      { kind: "confirm", ref: { kind: "VolumeSnapshot", namespace, name }, resourceVersion: undefined, ...change },
      new AbortController().signal,
    );
  const denied = async () => {
    throw new Fault("Conflict", "it is there");
  };
  await assert.rejects(ask({}, denied), /it is there/);
  await ask({ trustsReplies: true });
  await ask({ ref: { kind: "VolumeSnapshotContent", namespace, name } });
  await ask({ ref: { kind: "VolumeSnapshot", namespace: "elsewhere", name } });
  assert.equal(missing.of(claim).length, 1);
  await ask({});
  assert.deepEqual(missing.of(claim), []);
});

test("the memory is bounded and drops the oldest entry first", () => {
  const missing = createMissingSnapshots(2);
  for (const name of ["a", "b", "c"]) missing.see(taken({ metadata: { name, uid: name } }), undefined);
  assert.deepEqual(
    missing.of(claim).map(({ name }) => name),
    ["b", "c"],
  );
});
