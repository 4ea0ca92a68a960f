import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonValue } from "../base/json.ts";
import { applyJsonPatch } from "./json-patch.ts";

const document = { metadata: { finalizers: ["a", "b"], labels: { "x/y": "1" } }, list: [1, 2, 3] };

const applied: readonly (readonly [
  claim: string,
  patch: JsonValue,
  path: (result: typeof document) => unknown,
  JsonValue,
])[] = [
  [
    "add sets a member",
    [{ op: "add", path: "/metadata/name", value: "n" }],
    (r) => (r.metadata as { name?: string }).name,
    "n",
  ],
  ["add before an index moves the rest", [{ op: "add", path: "/list/1", value: 9 }], (r) => r.list, [1, 9, 2, 3]],
  ["add to - appends", [{ op: "add", path: "/list/-", value: 9 }], (r) => r.list, [1, 2, 3, 9]],
  [
    "replace of an absent member adds it",
    [{ op: "replace", path: "/status", value: 1 }],
    (r) => (r as { status?: number }).status,
    1,
  ],
  ["replace of a list item", [{ op: "replace", path: "/list/0", value: 9 }], (r) => r.list, [9, 2, 3]],
  [
    "remove takes a list item out",
    [{ op: "remove", path: "/metadata/finalizers/0" }],
    (r) => r.metadata.finalizers,
    ["b"],
  ],
  [
    "~1 stands for a slash",
    [{ op: "replace", path: "/metadata/labels/x~1y", value: "2" }],
    (r) => r.metadata.labels["x/y"],
    "2",
  ],
  ["move takes along", [{ op: "move", from: "/list/0", path: "/list/2" }], (r) => r.list, [2, 3, 1]],
  ["copy copies", [{ op: "copy", from: "/list/0", path: "/list/-" }], (r) => r.list, [1, 2, 3, 1]],
  ["test passes when equal", [{ op: "test", path: "/list", value: [1, 2, 3] }], (r) => r.list, [1, 2, 3]],
  [
    "test of an absent member against null passes",
    [{ op: "test", path: "/nothing", value: null }],
    (r) => r.list,
    [1, 2, 3],
  ],
];
for (const [claim, patch, path, expected] of applied)
  test(claim, () => {
    const before = JSON.stringify(document);
    assert.deepEqual(path(applyJsonPatch(document, patch) as typeof document), expected);
    assert.equal(JSON.stringify(document), before, "the original is left alone");
  });

const refused: readonly (readonly [claim: string, patch: JsonValue, code: number])[] = [
  ["remove of an absent member", [{ op: "remove", path: "/nothing" }], 422],
  ["a path through what does not exist", [{ op: "add", path: "/a/b/c", value: 1 }], 422],
  ["a failed test", [{ op: "test", path: "/list/0", value: 2 }], 422],
  ["an index beyond the end", [{ op: "add", path: "/list/7", value: 1 }], 422],
  [
    "a document copied into itself",
    Array.from({ length: 40 }, () => ({ op: "copy", from: "/list", path: "/list/-" })),
    422,
  ],
  ["an unknown operation", [{ op: "explode", path: "/list" }], 422],
  ["something that is no list", { op: "add" }, 400],
  ["more operations than anyone needs", Array.from({ length: 10_001 }, () => ({ op: "test", path: "/x" })), 413],
];
for (const [claim, patch, code] of refused)
  test(`${claim} is rejected with ${code}`, () => {
    assert.throws(
      () => applyJsonPatch(document, patch),
      (reason) => (reason as { status: { code: number } }).status.code === code,
    );
  });

test("a member named __proto__ is data and changes no prototype", () => {
  const result = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]) as object;
  assert.equal((result as { polluted?: boolean }).polluted, undefined);
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
});

test("a patch that is repeated after a conflict gives the same result", () => {
  const patch = [
    { op: "add", path: "/list", value: [] },
    { op: "add", path: "/list/-", value: "x" },
    { op: "replace", path: "/map", value: {} },
    { op: "copy", from: "/list", path: "/map/copy" },
  ];
  const once = { list: ["x"], map: { copy: ["x"] } };
  assert.deepEqual(applyJsonPatch({ map: 1 }, patch), once);
  assert.deepEqual(applyJsonPatch({ map: 1 }, patch), once);
});
