import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../test/builders.ts";
import type { PersistentVolumeClaim } from "../api/types.ts";
import { Fault, type FaultCode } from "../base/fault.ts";
import { createFence, type Fence, renewal } from "./fence.ts";
import { replaceNoted, writeUntilCarriedOut } from "./fenced-writes.ts";

const [own, other] = ["example.com/ours", "example.com/theirs"];
const at = (version: number, finalizers: readonly string[] = [own, other]): PersistentVolumeClaim =>
  aClaim({ metadata: { uid: "uid-claim", resourceVersion: String(version), finalizers: [...finalizers] } });

/** Everything that can happen between this process and one object, and how far its finalizer can then be relied on. */
for (const [given, happens, expected] of [
  ["nothing is known", () => undefined, { both: "doubtful", alone: "certain" }],
  ["our write was answered", (fence: Fence) => fence.hasWritten(at(1)), { both: "certain", alone: "certain" }],
  ["a removal was sent", (fence: Fence) => fence.willRemove(at(1)), { both: "doubtful", alone: "doubtful" }],
  [
    "a removal was sent after our write",
    (fence: Fence) => {
      fence.hasWritten(at(1));
      fence.willRemove(at(2));
    },
    { both: "doubtful", alone: "doubtful" },
  ],
  [
    "our write was answered after a removal was sent",
    (fence: Fence) => {
      fence.willRemove(at(1));
      fence.hasWritten(at(1));
    },
    { both: "certain", alone: "certain" },
  ],
  [
    "the removal was answered",
    (fence: Fence) => {
      fence.willRemove(at(1));
      fence.forget("uid-claim");
    },
    { both: "doubtful", alone: "certain" },
  ],
] as const)
  test(`when ${given}, a finalizer is ${expected.both}, and ${expected.alone} if it is the only one`, () => {
    const fence = createFence(10);
    happens(fence);
    assert.equal(fence.protectionBy(own, at(3)), expected.both);
    assert.equal(fence.protectionBy(own, at(3, [own])), expected.alone);
    assert.equal(fence.protectionBy(own, at(3, [other])), "none");
  });

test("a removal may land until the object has a version newer than the newest that it was sent for", () => {
  const fence = createFence(10);
  assert.equal(fence.mayLand(at(1)), false);
  fence.willRemove(at(12));
  fence.willRemove(at(10));
  assert.deepEqual(
    [9, 12, 13].map((version) => fence.mayLand(at(version))),
    [true, true, false],
  );
  fence.hasWritten(at(12));
  assert.equal(fence.mayLand(at(12)), true, "the version before our write is still the one that the removal names");
});

test("what was used last is forgotten last, and what is forgotten is doubtful", () => {
  const fence = createFence(2);
  const named = (uid: string) => aClaim({ metadata: { uid, finalizers: [own, other] } });
  for (const uid of ["1", "2"]) fence.hasWritten(named(uid));
  fence.use("1");
  fence.use("nobody");
  fence.hasWritten(named("3"));
  assert.deepEqual(
    ["1", "2", "3"].map((uid) => fence.protectionBy(own, named(uid))),
    ["certain", "doubtful", "certain"],
  );
});

test("a finalizer is renewed by moving it, and removed where there is nothing to move", () => {
  const finalizersOf = (given: readonly string[]) =>
    renewal("PersistentVolumeClaim", at(1, given), own).map((action) =>
      action.kind === "replace" ? action.object.metadata.finalizers : action.kind,
    );
  assert.deepEqual(finalizersOf([own, other]), [[other, own]]);
  assert.deepEqual(finalizersOf([other, own]), [[own, other]]);
  assert.deepEqual(finalizersOf([own]), [[]]);
});

test("a replace is noted before it is sent and when it is answered, and one without a reply stays doubtful", async () => {
  const fence = createFence(10);
  const lost = async (): Promise<PersistentVolumeClaim> => {
    throw new Fault("UnknownOutcome", "no reply");
  };
  await replaceNoted(fence, own, at(1), async () => at(2));
  assert.equal(fence.protectionBy(own, at(2)), "certain");
  await assert.rejects(replaceNoted(fence, own, at(2, [other]), lost));
  assert.equal(fence.protectionBy(own, at(2)), "doubtful");
  await assert.rejects(replaceNoted(fence, own, at(2, [other, own]), lost));
  assert.equal(fence.protectionBy(own, at(2)), "doubtful", "a renewal without a reply keeps nothing out");
  await replaceNoted(fence, own, at(2, [other, own]), async () => at(3));
  assert.equal(fence.protectionBy(own, at(3)), "certain");
});

/** What happens to the writes, one after the other; "" is carried out. */
for (const [faults, expected] of [
  [[""], { writes: 1, rereads: 0 }],
  [["Conflict", "AlreadyExists", "NotFound", ""], { writes: 4, rereads: 3 }],
  [["Conflict", "Conflict", "Conflict", "Conflict", ""], { writes: 4, rereads: 3, fails: "Conflict" }],
  [["UnknownOutcome", ""], { writes: 1, rereads: 0, fails: "UnknownOutcome" }],
] as const satisfies readonly (readonly [readonly (FaultCode | "")[], object])[])
  test(`writes that end with ${faults.map((code) => code || "success").join(", ")}`, async () => {
    const counted = { writes: 0, rereads: 0 };
    const ending = writeUntilCarriedOut(
      async () => {
        const code = faults[counted.writes++];
        if (code) throw new Fault(code, "refused");
      },
      async () => {
        counted.rereads++;
      },
    );
    const fails = await ending.then(
      () => undefined,
      (reason: Fault) => reason.code,
    );
    assert.deepEqual(fails === undefined ? counted : { ...counted, fails }, expected);
  });
