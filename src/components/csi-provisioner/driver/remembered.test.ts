import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume } from "../../../../test/builders.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { aCreateCall } from "../../../../test/volume-plans.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { nameOfVolume, uidOfVolume, volumeName } from "../identity.ts";
import { createRemembered, noCalls, noDeletion } from "./remembered.ts";
import { creationOf, deletionOf, strayOf, undoingOf } from "./target.ts";

const setUp = () => createRemembered(createVirtualWorld(), { startMs: 1_000, maxMs: 8_000 });
const created = (id: string) => ({ kind: "created", volume: { id, bytes: 1n, context: {}, topology: [] } }) as const;

test("the id that a later reply replaces is remembered until its volume is deleted", () => {
  const remembered = setUp();
  remembered.keep(creationOf(volumeName("pvc-1")), created("a"));
  remembered.forgetReply(volumeName("pvc-1"));
  assert.equal(remembered.about(volumeName("pvc-1")).stray, undefined);
  remembered.keep(creationOf(volumeName("pvc-1")), created("b"));
  assert.equal(remembered.about(volumeName("pvc-1")).stray?.id, "a");
  remembered.forget(volumeName("pvc-1"));
  assert.equal(
    remembered.about(volumeName("pvc-1")).stray?.id,
    "a",
    "the later volume is stored, the first still exists",
  );
  remembered.keep(strayOf(volumeName("pvc-1"), "a"), { kind: "deleted" });
  assert.equal(remembered.about(volumeName("pvc-1")).stray?.reply.kind, "deleted");
  remembered.forgetStray(volumeName("pvc-1"));
  assert.equal(remembered.about(volumeName("pvc-1")).stray, undefined);
});

test("an id is no stray after its volume was deleted, nor when it is answered again, nor when it belongs to another volume", () => {
  const remembered = setUp();
  remembered.keep(creationOf(volumeName("pvc-1")), created("a"));
  remembered.keep(creationOf(volumeName("pvc-1")), created("a"));
  remembered.keep(undoingOf(volumeName("pvc-1")), { kind: "deleted" });
  remembered.keep(creationOf(volumeName("pvc-1")), created("b"));
  assert.equal(remembered.about(volumeName("pvc-1")).stray, undefined);
  remembered.keep(creationOf(volumeName("pvc-2")), created("shared"));
  remembered.keep(creationOf(volumeName("pvc-3")), created("shared"));
  remembered.keep(creationOf(volumeName("pvc-3")), created("own"));
  assert.equal(remembered.about(volumeName("pvc-3")).stray, undefined, "it is the volume of pvc-2");
});

test("a deletion that the driver refuses for good is remembered after ten times, for this version of its PersistentVolume", () => {
  const remembered = setUp();
  const deletion = (resourceVersion: string) => deletionOf(aVolume({ metadata: { resourceVersion } }));
  const refusedTimes = (times: number, code: FaultCode, version = "7"): string | undefined => {
    for (let time = 0; time < times; time++)
      remembered.keep(deletion(version), { kind: "failed", fault: new Fault(code, "no") });
    return remembered.aboutStored(uidOfVolume(aVolume())).refusedVersion;
  };
  assert.equal(refusedTimes(9, "InvalidArgument"), undefined);
  assert.equal(refusedTimes(1, "InvalidArgument"), "7");
  assert.equal(refusedTimes(1, "InvalidArgument", "8"), "8", "it was asked once more for the next version");
  assert.equal(refusedTimes(20, "FailedPrecondition"), undefined, "it may be in use");
  assert.equal(refusedTimes(1, "InvalidArgument"), "7");
  remembered.keep(deletion("9"), { kind: "deleted" });
  assert.equal(remembered.aboutStored(uidOfVolume(aVolume())).refusedVersion, undefined);
});

test("with the last call it is remembered when it was sent, by the wall clock", async () => {
  const world = createVirtualWorld();
  const remembered = createRemembered(world, { startMs: 1_000, maxMs: 8_000 });
  const sentAtMs = world.now();
  remembered.sending(creationOf(volumeName("pvc-1")), aCreateCall());
  await world.advance(5_000);
  const memory = remembered.about(volumeName("pvc-1"));
  assert.deepEqual([memory.repliedTo, memory.sentAtMs], [aCreateCall(), sentAtMs]);
});

test("what is remembered under the name of a volume is not found under the uid of its PersistentVolume", () => {
  const remembered = setUp();
  const volume = aVolume();
  const failed = { kind: "failed", fault: new Fault("Internal", "no") } as const;
  remembered.keep(deletionOf(volume), failed);
  assert.equal(remembered.aboutStored(uidOfVolume(volume)).reply.kind, "failed");
  assert.deepEqual(remembered.about(nameOfVolume(volume)), noCalls);
  // @ts-expect-error A name is no uid.
  assert.equal(remembered.aboutStored(nameOfVolume(volume)).reply.kind, "none");
  // @ts-expect-error A uid is no name.
  assert.equal(remembered.about(uidOfVolume(volume)).reply.kind, "failed");
  remembered.forgetStored(uidOfVolume(volume));
  assert.deepEqual(remembered.aboutStored(uidOfVolume(volume)), noDeletion);
});
