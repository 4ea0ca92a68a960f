import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePath } from "./json-path.ts";

const object = {
  spec: { replicas: 3, list: ["a", "b"] },
  metadata: { annotations: { "example.com/x": "y" } },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Bound", status: "False" },
    ],
  },
};

const cases: readonly (readonly [path: string, found: readonly unknown[]])[] = [
  [".spec.replicas", [3]],
  ["spec.replicas", [3]],
  [".spec.missing.deeper", []],
  [".spec.list[1]", ["b"]],
  [".spec.list[-1]", ["b"]],
  [".spec.list[*]", ["a", "b"]],
  [".metadata.annotations.example\\.com/x", ["y"]],
  [".metadata.annotations['example\\.com/x']", ["y"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type != 'Ready')].status", ["False"]],
];
for (const [path, found] of cases)
  test(`${path} finds ${JSON.stringify(found)}`, () => {
    assert.deepEqual(compilePath(path)?.(object), found);
  });

test("a path outside of the subset is not compiled", () => {
  assert.equal(compilePath("{range .items}"), undefined);
  assert.equal(compilePath(".a[?(bad)]"), undefined);
});
