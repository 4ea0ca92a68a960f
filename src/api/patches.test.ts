import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edits } from "./patches.ts";
import { edit, editByReplacing, patchStatus, renewByReplacing } from "./patches.ts";
import type { KubeObject, ObjectMeta } from "./types.ts";

const aClaim = (metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", namespace: "team", uid: "u1", resourceVersion: "7", ...metadata },
});
const ref = { kind: "PersistentVolumeClaim", namespace: "team", name: "data", uid: "u1" };

const edits: readonly { given: string; object: KubeObject; edits: Edits; metadata: object | undefined }[] = [
  {
    given: "nothing to change",
    object: aClaim({ finalizers: ["a"] }),
    edits: { addFinalizers: ["a"], removeFinalizers: ["b"] },
    metadata: undefined,
  },
  { given: "a first finalizer", object: aClaim(), edits: { addFinalizers: ["a"] }, metadata: { finalizers: ["a"] } },
  {
    given: "a second finalizer",
    object: aClaim({ finalizers: ["x"] }),
    edits: { addFinalizers: ["a"] },
    metadata: { finalizers: ["x", "a"] },
  },
  {
    given: "one to add and one to remove",
    object: aClaim({ finalizers: ["x", "y"] }),
    edits: { addFinalizers: ["a"], removeFinalizers: ["x"] },
    metadata: { finalizers: ["y", "a"] },
  },
  {
    given: "an annotation and a label",
    object: aClaim(),
    edits: { annotations: { k: "v" }, labels: { l: "w" } },
    metadata: { annotations: { k: "v" }, labels: { l: "w" } },
  },
  {
    given: "an annotation to remove beside others",
    object: aClaim({ annotations: { k: "v", other: "o" } }),
    edits: { annotations: { k: undefined } },
    metadata: { annotations: { k: null } },
  },
  {
    given: "an annotation to remove that is not there",
    object: aClaim(),
    edits: { annotations: { k: undefined } },
    metadata: undefined,
  },
  {
    given: "all at once",
    object: aClaim({ annotations: { k: "v" } }),
    edits: { addFinalizers: ["a"], annotations: { k: "w" }, labels: { l: "m" } },
    metadata: { finalizers: ["a"], annotations: { k: "w" }, labels: { l: "m" } },
  },
];
for (const { given, object, edits: wanted, metadata } of edits)
  test(`given ${given}, one merge patch with the version, or none`, () =>
    assert.deepEqual(
      edit("PersistentVolumeClaim", object, wanted),
      metadata === undefined
        ? []
        : [{ kind: "patch", ref, patch: { type: "merge", body: { metadata: { resourceVersion: "7", ...metadata } } } }],
    ));

test("a replace sends the whole changed object with its resourceVersion", () => {
  const object = { ...aClaim({ finalizers: ["x"] }), spec: { volumeName: "pv" } };
  assert.deepEqual(editByReplacing("PersistentVolumeClaim", object, { addFinalizers: ["a"] }), [
    { kind: "replace", ref, object: { ...object, metadata: { ...object.metadata, finalizers: ["x", "a"] } } },
  ]);
  assert.deepEqual(editByReplacing("PersistentVolumeClaim", object, { addFinalizers: ["x"] }), []);
});

test("a finalizer is renewed by moving it among the others, and not at all where it is the only one", () => {
  const moved = (finalizers: string[]) =>
    renewByReplacing("PersistentVolumeClaim", aClaim({ finalizers }), "a").map((action) =>
      action.kind === "replace" ? action.object.metadata.finalizers : undefined,
    );
  assert.deepEqual([["x", "a", "y"], ["a", "x"], ["a"]].map(moved), [[["a", "x", "y"]], [["x", "a"]], []]);
});

test("a status patch has only changed fields, clears absent ones, and goes to the status subresource", () =>
  assert.deepEqual(
    patchStatus(
      "PersistentVolumeClaim",
      aClaim(),
      { phase: "Bound", error: "old", size: 5n },
      { phase: "Bound", size: 6n },
    ),
    [
      {
        kind: "patch",
        ref,
        patch: { type: "merge", body: { metadata: { resourceVersion: "7" }, status: { error: null, size: 6n } } },
        subresource: "status",
      },
    ],
  ));

test("a status without changes needs no write", () =>
  assert.deepEqual(patchStatus("PersistentVolumeClaim", aClaim(), { size: 5n }, { size: 5 }), []));
