import assert from "node:assert/strict";
import { test } from "node:test";
import * as fieldErrors from "../schema/field-error.ts";
import { conflict, invalid, notFound } from "./status.ts";

const snapshots = { group: "snapshot.storage.k8s.io", plural: "volumesnapshots", kind: "VolumeSnapshot" };

test("the error for a missing object has its resource and group", () => {
  const { status } = notFound(snapshots, "x");
  assert.equal(status.message, 'volumesnapshots.snapshot.storage.k8s.io "x" not found');
  assert.deepEqual(status.details, { name: "x", group: "snapshot.storage.k8s.io", kind: "volumesnapshots" });
  assert.equal(notFound({ group: "", plural: "pods" }, "y").message, 'pods "y" not found');
});

test("a conflict names its object", () => {
  assert.equal(
    conflict({ group: "", plural: "pods" }, "y", "why").message,
    'Operation cannot be fulfilled on pods "y": why',
  );
});

test("field errors become causes, and the message has each error once", () => {
  const required = fieldErrors.required("spec.source");
  const unsupported = fieldErrors.notSupported("spec.mode", "Best", ["A", "B"]);
  const { status } = invalid(snapshots, "x", [required, unsupported, required]);
  assert.equal(
    status.message,
    'VolumeSnapshot.snapshot.storage.k8s.io "x" is invalid: [spec.source: Required value, spec.mode: Unsupported value: "Best": supported values: "A", "B"]',
  );
  assert.deepEqual(status.details?.causes?.[0], {
    reason: "FieldValueRequired",
    message: "Required value",
    field: "spec.source",
  });
  assert.equal(
    invalid(snapshots, "x", [required]).message,
    'VolumeSnapshot.snapshot.storage.k8s.io "x" is invalid: spec.source: Required value',
  );
});

test("API errors have no stack trace, and other errors do", () => {
  assert.equal(notFound(snapshots, "x").stack?.includes("\n"), false);
  assert.match(new Error("another").stack ?? "", /status\.test\.ts/);
});
