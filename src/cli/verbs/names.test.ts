import assert from "node:assert/strict";
import { test } from "node:test";
import { kubectlName, nameWith, placeOf, snapshotNameAt } from "./names.ts";

test("a snapshot is named by its claim and the time, in at most 253 characters", () => {
  const at = Date.parse("2026-11-19T20:15:00Z");
  assert.equal(snapshotNameAt("data", at), "data-20261119-201500");
  const long = snapshotNameAt(`${"a".repeat(236)}.${"b".repeat(16)}`, at);
  assert.equal(long, `${"a".repeat(236)}-20261119-201500`);
  assert.equal(nameWith("x".repeat(253), "y".repeat(66)).length, 253);
});

test("objects are named as kubectl names them", () => {
  assert.equal(kubectlName("PersistentVolumeClaim", "data"), "persistentvolumeclaim/data");
  assert.equal(kubectlName("VolumeSnapshot", "monday"), "volumesnapshot.snapshot.storage.k8s.io/monday");
});

test("a name may have its namespace before it", () => {
  assert.deepEqual(placeOf("team/data", "default"), { namespace: "team", name: "data" });
  assert.deepEqual(placeOf("data", "default"), { namespace: "default", name: "data" });
});
