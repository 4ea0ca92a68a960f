import assert from "node:assert/strict";
import { test } from "node:test";
import { anIntent, aReadySnapshot } from "../../../../test/volume-plans.ts";
import { finalizers } from "../../../api/names.ts";
import type { VolumeSnapshot } from "../../../api/types.ts";
import { keyIn } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";
import { type VolumeName, volumeName } from "../identity.ts";
import type { Intent } from "../stored-calls/intent.ts";
import type { SourceObject } from "./source.ts";
import { createSourceProtection } from "./source-protection.ts";

const monday: SourceObject = { kind: "snapshot", key: keyIn("team", "monday") };
const held = { finalizers: [finalizers.snapshotRestoring] };
const { signal } = new AbortController();

/** A server that keeps one snapshot; its cache is current as soon as a write is answered. */
function setUp(snapshot: VolumeSnapshot | undefined, write: () => Promise<void> = async () => undefined) {
  let current = snapshot;
  let writes = 0;
  const intents = new Map<VolumeName, Intent>();
  const protection = createSourceProtection({
    snapshotOf: () => current,
    claimOf: () => undefined,
    intents: { all: () => intents },
    replace: async ({ object }) => {
      writes += 1;
      await write();
      current = object as VolumeSnapshot;
    },
  });
  return { protection, intents, writes: () => writes, finalizers: () => current?.metadata.finalizers ?? [] };
}

test("fifty restores of one snapshot put the finalizer on with one write", async () => {
  const { protection, writes, finalizers: on } = setUp(aReadySnapshot());
  await Promise.all(Array.from({ length: 50 }, () => protection.protect(monday, signal)));
  assert.deepEqual([writes(), on()], [1, held.finalizers]);
  await protection.protect(monday, signal);
  assert.equal(writes(), 1);
});

test("a snapshot that is being deleted or gone gets no finalizer", async () => {
  for (const snapshot of [aReadySnapshot({ deletionTimestamp: "2026-01-01T01:00:00Z" }), undefined]) {
    const { protection, writes } = setUp(snapshot);
    await protection.protect(monday, signal);
    assert.equal(writes(), 0);
  }
});

test("a write that fails fails for all who wait for it, and is tried again", async () => {
  let isAway = true;
  const { protection, finalizers: on } = setUp(aReadySnapshot(), async () => {
    if (isAway) throw new Fault("Conflict", "changed");
  });
  const both = await Promise.allSettled([protection.protect(monday, signal), protection.protect(monday, signal)]);
  assert.ok(both.some(({ status }) => status === "rejected"));
  isAway = false;
  await protection.protect(monday, signal);
  assert.deepEqual(on(), held.finalizers);
});

test("a source stays in use while a call is about to be sent and while one is stored", async () => {
  const { protection, intents, writes } = setUp(aReadySnapshot(held));
  const release = protection.hold(monday);
  await protection.unprotect(monday, signal);
  assert.equal(writes(), 0);
  intents.set(volumeName("pvc-1"), anIntent({ snapshotKey: "team/monday" }));
  release();
  await protection.unprotect(monday, signal);
  assert.deepEqual([protection.isUsed(monday), writes()], [true, 0]);
  intents.delete(volumeName("pvc-1"));
  await protection.unprotect(monday, signal);
  assert.deepEqual([protection.isUsed(monday), writes()], [false, 1]);
});

test("a restore that comes while the finalizer is being removed puts it back", async () => {
  const removal = Promise.withResolvers<void>();
  let isFirst = true;
  const { protection, finalizers: on } = setUp(aReadySnapshot(held), async () => {
    if (isFirst) {
      isFirst = false;
      await removal.promise;
    }
  });
  const removing = protection.unprotect(monday, signal);
  const release = protection.hold(monday);
  const putting = protection.protect(monday, signal);
  removal.resolve();
  await Promise.all([removing, putting]);
  assert.deepEqual(on(), held.finalizers);
  release();
});

const bound = [finalizers.snapshotBound, finalizers.snapshotRestoring];
const renewed = bound.toReversed();

test("a finalizer that was there before is renewed before it counts, because a predecessor's removal may still arrive", async () => {
  const { protection, writes, finalizers: on } = setUp(aReadySnapshot({ finalizers: bound }));
  await protection.protect(monday, signal);
  await protection.protect(monday, signal);
  assert.deepEqual([writes(), on()], [1, renewed]);
});

test("a finalizer is renewed on a snapshot that is being deleted, too", async () => {
  const going = aReadySnapshot({ finalizers: bound, deletionTimestamp: "2026-01-01T01:00:00Z" });
  const { protection, finalizers: on } = setUp(going);
  await protection.protect(monday, signal);
  assert.deepEqual(on(), renewed);
});

test("without the finalizer that it requires, a call is not sent for a snapshot that is being deleted", async () => {
  const { protection } = setUp(aReadySnapshot({ deletionTimestamp: "2026-01-01T01:00:00Z" }));
  await protection.protect(monday, signal);
  await assert.rejects(protection.protect(monday, signal, true), { code: "Conflict" });
  const kept = setUp(aReadySnapshot());
  await kept.protection.protect(monday, signal, true);
  assert.deepEqual(kept.finalizers(), held.finalizers);
});

/** The removal of a finalizer that this process has put on gets no reply, and may still arrive. */
async function withLostRemoval(others: readonly string[]) {
  let isAway = false;
  const stage = setUp(aReadySnapshot({ finalizers: [...others] }), async () => {
    if (isAway) throw new Fault("DeadlineExceeded", "no reply");
  });
  await stage.protection.protect(monday, signal);
  isAway = true;
  await assert.rejects(stage.protection.unprotect(monday, signal), { code: "DeadlineExceeded" });
  isAway = false;
  return stage;
}

test("after a removal without an outcome, the finalizer is renewed before it counts again", async () => {
  const { protection, writes, finalizers: on } = await withLostRemoval([finalizers.snapshotBound]);
  const before = writes();
  await protection.protect(monday, signal);
  await protection.protect(monday, signal);
  assert.deepEqual([writes() - before, on()], [1, renewed]);
});

test("after a removal without an outcome, a finalizer that is the only one is removed and put on again", async () => {
  const { protection, writes, finalizers: on } = await withLostRemoval([]);
  const before = writes();
  await protection.protect(monday, signal);
  assert.deepEqual([writes() - before, on()], [2, held.finalizers]);
});
