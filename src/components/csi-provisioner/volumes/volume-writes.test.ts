import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume } from "../../../../test/builders.ts";
import type { PersistentVolume } from "../../../api/types.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { volumeName } from "../identity.ts";
import { createVolumeWrites } from "./volume-writes.ts";

const name = "pvc-1";

function setUp() {
  const cache = new Map<string, PersistentVolume>();
  const ended: string[] = [];
  const listeners: ((before: PersistentVolume | undefined, after: PersistentVolume | undefined) => void)[] = [];
  const writes = createVolumeWrites({
    world: { elapsed: () => 0 },
    volumes: { onChange: (listener) => listeners.push(listener) },
    volumeOf: (of) => cache.get(of),
    onEnd: (of) => ended.push(of),
  });
  const show = (phase: string): void => {
    const [before, after] = [cache.get(name), { ...aVolume({ metadata: { name } }), status: { phase } }];
    cache.set(name, after);
    for (const listener of listeners) listener(before, after);
  };
  return { writes, show, ended };
}

test("a request is in flight until it ends, and its volume is under way until it is bound", async () => {
  const { writes, show, ended } = setUp();
  const reply = Promise.withResolvers<void>();
  const storing = writes.store(volumeName(name), () => reply.promise);
  assert.deepEqual([writes.isInFlight(volumeName(name)), writes.areUnderWay(), ended], [true, true, []]);
  show("Pending");
  reply.resolve();
  await storing;
  assert.deepEqual([writes.isInFlight(volumeName(name)), writes.areUnderWay(), ended], [false, true, [name]]);
  show("Bound");
  assert.equal(writes.areUnderWay(), false);
  assert.equal(writes.lateMs(volumeName(name)), 0);
});

test("no more than four are sent at once", async () => {
  const { writes } = setUp();
  const reply = Promise.withResolvers<void>();
  let sent = 0;
  const all = Array.from({ length: 9 }, (_, index) =>
    writes.store(volumeName(`pvc-${index}`), () => {
      sent += 1;
      return reply.promise;
    }),
  );
  assert.equal(sent, 4);
  assert.equal(writes.isInFlight(volumeName("pvc-8")), true);
  reply.resolve();
  await Promise.all(all);
  assert.equal(sent, 9);
});

const failures: readonly [FaultCode, lateMs: number][] = [
  ["DeadlineExceeded", 60_000],
  ["Unavailable", 60_000],
  ["Invalid", 0],
  ["PermissionDenied", 0],
];
for (const [code, lateMs] of failures)
  test(`after ${code} the PersistentVolume may ${lateMs > 0 ? "still be stored for a minute" : "not be stored later"}`, async () => {
    const { writes, ended } = setUp();
    const failing = writes.store(volumeName(name), () => Promise.reject(new Fault(code, "no")));
    await assert.rejects(failing, { code });
    assert.deepEqual(
      [writes.lateMs(volumeName(name)), writes.isInFlight(volumeName(name)), ended],
      [lateMs, false, [name]],
    );
  });

test("what another process has sent may be stored for a minute", () => {
  const { writes } = setUp();
  writes.expect(volumeName(name));
  assert.equal(writes.lateMs(volumeName(name)), 60_000);
});
