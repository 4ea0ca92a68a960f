import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import { annotations } from "../../api/names.ts";
import { createCreateAttempts } from "./create-attempts.ts";

/** Each of a snapshot of its own, unless it is named. */
const namedAt = (version: number, cutBy: string | undefined, uid = "uid-content", snapshotUid = `snapshot of ${uid}`) =>
  aContent({
    spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: snapshotUid } },
    metadata: {
      uid,
      resourceVersion: String(version),
      ...(cutBy === undefined
        ? {}
        : { annotations: { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: cutBy } }),
    },
  });

test("about a content that names this term, and that it has not asked about, nobody has asked", () =>
  assert.equal(createCreateAttempts("third").asked(namedAt(1, "third")), "never"));

test("a content that names another term, or none, may have been asked about", () => {
  const { asked } = createCreateAttempts("third");
  assert.deepEqual([namedAt(1, "second"), namedAt(1, undefined)].map(asked), ["perhaps", "perhaps"]);
});

test("what was asked stays asked, in whichever version it comes back", () => {
  const { willCreate, asked } = createCreateAttempts("third");
  willCreate(namedAt(7, "third"));
  assert.deepEqual([namedAt(5, "third"), namedAt(9, "third"), namedAt(9, undefined)].map(asked), [
    "here",
    "here",
    "here",
  ]);
});

test("of a second content of one snapshot the driver may have been asked, for it knows both by one name", () => {
  const { willCreate, asked } = createCreateAttempts("third");
  willCreate(namedAt(7, "third", "uid-1", "monday"));
  assert.equal(asked(namedAt(9, "third", "uid-2", "monday")), "perhaps");
  assert.equal(asked(namedAt(9, "third", "uid-3", "tuesday")), "never");
});

test("what was let go unasked is remembered as such, and what was asked stays asked", () => {
  const { willCreate, willRemoveAnnotation, asked } = createCreateAttempts("third");
  const [one, other] = [namedAt(7, "third", "uid-1"), namedAt(8, "third", "uid-2")];
  willRemoveAnnotation(one);
  willCreate(other);
  willRemoveAnnotation(other);
  assert.deepEqual([one, other].map(asked), ["let go", "here"]);
  willCreate(one);
  assert.equal(asked(one), "here");
});

test("a request to take the mark off may arrive as long as nobody has written after the version that it names", () => {
  const { willCreate, willRemoveAnnotation, isAnnotationRemovalPending } = createCreateAttempts("third");
  const at = (version: number) => isAnnotationRemovalPending(namedAt(version, "third"));
  willCreate(namedAt(7, "third"));
  assert.deepEqual([at(7), at(8)], [false, false]);
  willRemoveAnnotation(namedAt(8, "third"));
  willCreate(namedAt(8, "third"));
  assert.deepEqual([at(7), at(8), at(9)], [true, true, false]);
  willRemoveAnnotation(namedAt(12, "third"));
  willRemoveAnnotation(namedAt(10, "third"));
  assert.deepEqual([at(12), at(13)], [true, false]);
});

test("of a version that cannot be compared, only the very one that the request names can be unmarked by it", () => {
  const { willRemoveAnnotation, isAnnotationRemovalPending } = createCreateAttempts("third");
  const opaque = (resourceVersion: string) => aContent({ metadata: { uid: "uid-content", resourceVersion } });
  willRemoveAnnotation(opaque("a7"));
  assert.deepEqual([isAnnotationRemovalPending(opaque("a7")), isAnnotationRemovalPending(opaque("a8"))], [true, false]);
});

test("when the memory is full, only what is newer than all that was asked before is believed to be new", () => {
  const { willCreate, asked } = createCreateAttempts("third", 2);
  for (const version of [1, 3, 5, 7]) willCreate(namedAt(version, "third", `uid-${version}`));
  const of = (uid: number, version: number) => asked(namedAt(version, "third", `uid-${uid}`));
  assert.deepEqual(
    [of(7, 7), of(5, 5), of(3, 3), of(3, 4), of(1, 1), of(8, 8)],
    ["here", "here", "perhaps", "perhaps", "perhaps", "never"],
  );
});

test("asking again about the same content makes nothing else forgotten", () => {
  const { willCreate, asked } = createCreateAttempts("third", 2);
  for (const version of [1, 3, 1, 3]) willCreate(namedAt(version, "third", `uid-${version}`));
  assert.equal(asked(namedAt(2, "third", "uid-2")), "never");
});
