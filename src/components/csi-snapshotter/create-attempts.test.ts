import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { createCreateAttempts } from "./create-attempts.ts";

const setUp = (sizeMax?: number) => {
  const { about, ...attempts } = createCreateAttempts("third", sizeMax);
  return {
    ...attempts,
    createSent: (content: VolumeSnapshotContent) => about(content).createSent,
    isRemovalPending: (content: VolumeSnapshotContent) => about(content).isRemovalPending,
  };
};

/** Each of a snapshot of its own, unless it is named. */
const namedAt = (
  version: number,
  sidecarId: string | undefined,
  uid = "uid-content",
  snapshotUid = `snapshot of ${uid}`,
) =>
  aContent({
    spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: snapshotUid } },
    metadata: {
      uid,
      resourceVersion: String(version),
      ...(sidecarId === undefined
        ? {}
        : { annotations: { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: sidecarId } }),
    },
  });

test("a content with this process's id and without a call of this process has no earlier call", () =>
  assert.equal(setUp().createSent(namedAt(1, "third")), "never"));

test("a content with another id, or none, may have an earlier call", () => {
  const { createSent } = setUp();
  assert.deepEqual([namedAt(1, "second"), namedAt(1, undefined)].map(createSent), ["unknown", "unknown"]);
});

test("a recorded call stays recorded for any version of the content", () => {
  const { willCreate, createSent } = setUp();
  willCreate(namedAt(7, "third"));
  assert.deepEqual([namedAt(5, "third"), namedAt(9, "third"), namedAt(9, undefined)].map(createSent), [
    "sent",
    "sent",
    "sent",
  ]);
});

test("a second content of one snapshot may have an earlier call, because both have the same snapshot name", () => {
  const { willCreate, createSent } = setUp();
  willCreate(namedAt(7, "third", "uid-1", "monday"));
  assert.equal(createSent(namedAt(9, "third", "uid-2", "monday")), "unknown");
  assert.equal(createSent(namedAt(9, "third", "uid-3", "tuesday")), "never");
});

test("contents that were released without a call are remembered, and recorded calls stay recorded", () => {
  const { willCreate, willRemoveAnnotation, createSent } = setUp();
  const [one, other] = [namedAt(7, "third", "uid-1"), namedAt(8, "third", "uid-2")];
  willRemoveAnnotation(one);
  willCreate(other);
  willRemoveAnnotation(other);
  assert.deepEqual([one, other].map(createSent), ["released", "sent"]);
  willCreate(one);
  assert.equal(createSent(one), "sent");
});

test("a request to remove the annotation may arrive until the content has a newer version", () => {
  const { willCreate, willRemoveAnnotation, isRemovalPending } = setUp();
  const at = (version: number) => isRemovalPending(namedAt(version, "third"));
  willCreate(namedAt(7, "third"));
  assert.deepEqual([at(7), at(8)], [false, false]);
  willRemoveAnnotation(namedAt(8, "third"));
  willCreate(namedAt(8, "third"));
  assert.deepEqual([at(7), at(8), at(9)], [true, true, false]);
  willRemoveAnnotation(namedAt(12, "third"));
  willRemoveAnnotation(namedAt(10, "third"));
  assert.deepEqual([at(12), at(13)], [true, false]);
});

test("for versions that cannot be compared, only the version that the request names is affected", () => {
  const { willRemoveAnnotation, isRemovalPending } = setUp();
  const opaque = (resourceVersion: string) => aContent({ metadata: { uid: "uid-content", resourceVersion } });
  willRemoveAnnotation(opaque("a7"));
  assert.deepEqual([isRemovalPending(opaque("a7")), isRemovalPending(opaque("a8"))], [true, false]);
});

test("when the memory is full, only contents newer than all recorded calls count as new", () => {
  const { willCreate, createSent } = setUp(2);
  for (const version of [1, 3, 5, 7]) willCreate(namedAt(version, "third", `uid-${version}`));
  const of = (uid: number, version: number) => createSent(namedAt(version, "third", `uid-${uid}`));
  assert.deepEqual(
    [of(7, 7), of(5, 5), of(3, 3), of(3, 4), of(1, 1), of(8, 8)],
    ["sent", "sent", "unknown", "unknown", "unknown", "never"],
  );
});

test("repeating a call for the same content drops no other entry", () => {
  const { willCreate, createSent } = setUp(2);
  for (const version of [1, 3, 1, 3]) willCreate(namedAt(version, "third", `uid-${version}`));
  assert.equal(createSent(namedAt(2, "third", "uid-2")), "never");
});
