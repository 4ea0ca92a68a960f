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
  ["pu", "up"],
  ["cdrs", "crds"],
  ["banana", undefined],
];
for (const [given, then] of cases)
  test(`"${given}" is taken for ${then ?? "nothing we know"}`, () => assert.equal(nearest(given, words), then));

test("the distance counts insertions, removals, replacements and neighbours that changed places", () => {
  assert.equal(editDistance("prot", "port"), 1);
  assert.equal(editDistance("ab", "ba"), 1);
  assert.equal(editDistance("ca", "abc"), 3);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("abc", "abd"), 1);
  assert.equal(editDistance("kitten", "sitting"), 3);
});
