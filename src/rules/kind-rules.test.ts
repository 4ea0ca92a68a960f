import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedKind, judgedResource, kindRules } from "./kind-rules.ts";

const gates = { anyVolumeDataSource: true, crossNamespace: false };

test("a kind is found by its group and kind, and by its group and resource", () => {
  assert.equal(judgedKind("snapshot.storage.k8s.io", "VolumeSnapshot"), "VolumeSnapshot");
  assert.equal(judgedResource("", "persistentvolumeclaims"), "PersistentVolumeClaim");
  assert.equal(judgedKind("", "VolumeSnapshot"), undefined);
  assert.equal(judgedKind("snapshot.storage.k8s.io", "volumesnapshots"), undefined);
  assert.equal(judgedResource("snapshot.storage.k8s.io", "constructor"), undefined);
});

test("a claim is judged by what the cluster supports", () => {
  const spec = { dataSource: { apiGroup: "example.org", kind: "Archive", name: "a" } };
  const codes = (anyVolumeDataSource: boolean) =>
    kindRules.PersistentVolumeClaim.judge({ spec }, undefined, { ...gates, anyVolumeDataSource }).refused.map(
      ({ code }) => code,
    );
  assert.deepEqual([codes(true), codes(false)], [[], ["SNAP-132"]]);
});

test("what an API server accepts is a hint and never refused", () => {
  const grant = { spec: { from: [{ kind: "PersistentVolumeClaim" }] } };
  assert.deepEqual(kindRules.ReferenceGrant.judge(), { refused: [], ratcheted: [] });
  assert.deepEqual(
    kindRules.ReferenceGrant.hints(grant).map(({ severity, violation }) => [severity, violation.code]),
    [["error", "SNAP-402"]],
  );
});
