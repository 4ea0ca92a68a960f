import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, nearest } from "./nearest.ts";

const words = ["snapshot-controller", "csi-snapshotter", "apiserver", "up", "crds"];
const cases: readonly (readonly [string, string | undefined])[] = [
  ["snapshot-contoller", "snapshot-controller"],
  ["CRDs", "crds"],
  ["crd", "crds"],
  ["api-server", "apiserver"],
  ["u", "up"],
  ["banana", undefined],
];
for (const [given, then] of cases)
  test(`"${given}" is taken for ${then ?? "nothing we know"}`, () => assert.equal(nearest(given, words), then));

test("the distance counts insertions, removals and replacements", () => {
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("abc", "abd"), 1);
  assert.equal(editDistance("kitten", "sitting"), 3);
});
