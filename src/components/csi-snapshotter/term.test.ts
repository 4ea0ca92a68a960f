import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import { annotations } from "../../api/names.ts";
import { createTerm } from "./term.ts";

/** Each of a snapshot of its own, unless it is named. */
const namedAt = (version: number, cutBy: string | undefined, uid = "uid-content", snapshotUid = `snapshot of ${uid}`) =>
  aContent({
    spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: snapshotUid } },
    metadata: {
      uid,
      resourceVersion: String(version),
      ...(cutBy === undefined
        ? {}
        : { annotations: { [annotations.beingCreated]: "yes", [annotations.cutBy]: cutBy } }),
    },
  });

test("about a content that names this term, and that it has not asked about, nobody has asked", () =>
  assert.equal(createTerm("third").asked(namedAt(1, "third")), "never"));

test("a content that names another term, or none, may have been asked about", () => {
  const { asked } = createTerm("third");
  assert.deepEqual([namedAt(1, "second"), namedAt(1, undefined)].map(asked), ["perhaps", "perhaps"]);
});

test("what was asked stays asked, in whichever version it comes back", () => {
  const { asks, asked } = createTerm("third");
  asks(namedAt(7, "third"));
  assert.deepEqual([namedAt(5, "third"), namedAt(9, "third"), namedAt(9, undefined)].map(asked), [
    "here",
    "here",
    "here",
  ]);
});

test("of a second content of one snapshot the driver may have been asked, for it knows both by one name", () => {
  const { asks, asked } = createTerm("third");
  asks(namedAt(7, "third", "uid-1", "monday"));
  assert.equal(asked(namedAt(9, "third", "uid-2", "monday")), "perhaps");
  assert.equal(asked(namedAt(9, "third", "uid-3", "tuesday")), "never");
});

test("what was let go unasked is remembered as such, and what was asked stays asked", () => {
  const { asks, letsGo, asked } = createTerm("third");
  const [one, other] = [namedAt(7, "third", "uid-1"), namedAt(8, "third", "uid-2")];
  letsGo(one);
  asks(other);
  letsGo(other);
  assert.deepEqual([one, other].map(asked), ["let go", "here"]);
  asks(one);
  assert.equal(asked(one), "here");
});

test("a request to take the mark off may arrive as long as nobody has written after the version that it names", () => {
  const { asks, letsGo, unmarking } = createTerm("third");
  const at = (version: number) => unmarking(namedAt(version, "third"));
  asks(namedAt(7, "third"));
  assert.deepEqual([at(7), at(8)], [false, false]);
  letsGo(namedAt(8, "third"));
  asks(namedAt(8, "third"));
  assert.deepEqual([at(7), at(8), at(9)], [true, true, false]);
  letsGo(namedAt(12, "third"));
  letsGo(namedAt(10, "third"));
  assert.deepEqual([at(12), at(13)], [true, false]);
});

test("of a version that cannot be compared, only the very one that the request names can be unmarked by it", () => {
  const { letsGo, unmarking } = createTerm("third");
  const opaque = (resourceVersion: string) => aContent({ metadata: { uid: "uid-content", resourceVersion } });
  letsGo(opaque("a7"));
  assert.deepEqual([unmarking(opaque("a7")), unmarking(opaque("a8"))], [true, false]);
});

test("when the memory is full, only what is newer than all that was asked before is believed to be new", () => {
  const { asks, asked } = createTerm("third", 2);
  for (const version of [1, 3, 5, 7]) asks(namedAt(version, "third", `uid-${version}`));
  const of = (uid: number, version: number) => asked(namedAt(version, "third", `uid-${uid}`));
  assert.deepEqual(
    [of(7, 7), of(5, 5), of(3, 3), of(3, 4), of(1, 1), of(8, 8)],
    ["here", "here", "perhaps", "perhaps", "perhaps", "never"],
  );
});

test("asking again about the same content makes nothing else forgotten", () => {
  const { asks, asked } = createTerm("third", 2);
  for (const version of [1, 3, 1, 3]) asks(namedAt(version, "third", `uid-${version}`));
  assert.equal(asked(namedAt(2, "third", "uid-2")), "never");
});
