import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { creationOf, strayOf, undoingOf } from "./plan-steps.ts";
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
