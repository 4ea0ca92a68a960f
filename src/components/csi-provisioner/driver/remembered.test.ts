import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { aCreateCall } from "../../../../test/volume-plans.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { creationOf, strayOf, undoingOf } from "../plan-steps.ts";
import { createRemembered } from "./remembered.ts";

const setUp = () => createRemembered(createVirtualWorld(), { startMs: 1_000, maxMs: 8_000 });
const created = (id: string) => ({ kind: "created", volume: { id, bytes: 1n, context: {}, topology: [] } }) as const;

test("the id that a later reply replaces is remembered until its volume is deleted", () => {
  const remembered = setUp();
  remembered.keep(creationOf("pvc-1"), created("a"));
  remembered.forgetReply("pvc-1");
  assert.equal(remembered.memoryOf("pvc-1").stray, undefined);
  remembered.keep(creationOf("pvc-1"), created("b"));
  assert.equal(remembered.memoryOf("pvc-1").stray?.id, "a");
  remembered.forget("pvc-1");
  assert.equal(remembered.memoryOf("pvc-1").stray?.id, "a", "the later volume is stored, the first still exists");
  remembered.keep(strayOf("pvc-1", "a"), { kind: "deleted" });
  assert.equal(remembered.memoryOf("pvc-1").stray?.reply.kind, "deleted");
  remembered.forgetStray("pvc-1");
  assert.equal(remembered.memoryOf("pvc-1").stray, undefined);
});

test("an id is no stray after its volume was deleted, nor when it is answered again, nor when it belongs to another volume", () => {
  const remembered = setUp();
  remembered.keep(creationOf("pvc-1"), created("a"));
  remembered.keep(creationOf("pvc-1"), created("a"));
  remembered.keep(undoingOf("pvc-1"), { kind: "deleted" });
  remembered.keep(creationOf("pvc-1"), created("b"));
  assert.equal(remembered.memoryOf("pvc-1").stray, undefined);
  remembered.keep(creationOf("pvc-2"), created("shared"));
  remembered.keep(creationOf("pvc-3"), created("shared"));
  remembered.keep(creationOf("pvc-3"), created("own"));
  assert.equal(remembered.memoryOf("pvc-3").stray, undefined, "it is the volume of pvc-2");
});

test("a deletion that the driver refuses for good is remembered after ten times, for this version of its PersistentVolume", () => {
  const remembered = setUp();
  const deletion = (version: string) => ({ metadata: { name: "pvc-1", uid: "u-1" }, goal: "delete", version }) as const;
  const refusedTimes = (times: number, code: FaultCode, version = "7"): string | undefined => {
    for (let time = 0; time < times; time++)
      remembered.keep(deletion(version), { kind: "failed", fault: new Fault(code, "no") });
    return remembered.memoryOf("u-1").refusedVersion;
  };
  assert.equal(refusedTimes(9, "InvalidArgument"), undefined);
  assert.equal(refusedTimes(1, "InvalidArgument"), "7");
  assert.equal(refusedTimes(1, "InvalidArgument", "8"), "8", "it was asked once more for the next version");
  assert.equal(refusedTimes(20, "FailedPrecondition"), undefined, "it may be in use");
  assert.equal(refusedTimes(1, "InvalidArgument"), "7");
  remembered.keep(deletion("9"), { kind: "deleted" });
  assert.equal(remembered.memoryOf("u-1").refusedVersion, undefined);
});

test("with the last call it is remembered when it was sent, by the wall clock", async () => {
  const world = createVirtualWorld();
  const remembered = createRemembered(world, { startMs: 1_000, maxMs: 8_000 });
  const sentAtMs = world.now();
  remembered.sending(creationOf("pvc-1"), aCreateCall());
  await world.advance(5_000);
  const memory = remembered.memoryOf("pvc-1");
  assert.deepEqual([memory.repliedTo, memory.sentAtMs], [aCreateCall(), sentAtMs]);
});
