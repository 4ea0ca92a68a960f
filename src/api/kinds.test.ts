import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf, kindRows, pathOf } from "./kinds.ts";

test("paths follow scope, group, version and subresource", () => {
  assert.equal(
    pathOf("VolumeSnapshot", { namespace: "team", name: "a" }),
    "/apis/snapshot.storage.k8s.io/v1/namespaces/team/volumesnapshots/a",
  );
  assert.equal(pathOf("VolumeSnapshot", {}), "/apis/snapshot.storage.k8s.io/v1/volumesnapshots");
  assert.equal(
    pathOf("VolumeSnapshotContent", { name: "c", subresource: "status", version: "v1beta1" }),
    "/apis/snapshot.storage.k8s.io/v1beta1/volumesnapshotcontents/c/status",
  );
  assert.equal(
    pathOf("PersistentVolumeClaim", { namespace: "a b", name: "c/d" }),
    "/api/v1/namespaces/a%20b/persistentvolumeclaims/c%2Fd",
  );
});

test("a namespace given for a cluster-scoped kind is left out of the path", () => {
  assert.equal(pathOf("PersistentVolume", { namespace: "x", name: "y" }), "/api/v1/persistentvolumes/y");
});

test("the core group has no group in its apiVersion", () => {
  assert.equal(apiVersionOf("Secret"), "v1");
  assert.equal(apiVersionOf("VolumeSnapshot", "v1beta1"), "snapshot.storage.k8s.io/v1beta1");
});

test("no two kinds of a group share a plural, and no two of the table a short name", () => {
  const rows = Object.values(kindRows);
  const plurals = rows.map(({ group, plural }) => `${plural}.${group}`);
  const shortNames = rows.flatMap((row) => row.shortNames ?? []);
  assert.equal(new Set(plurals).size, plurals.length);
  assert.equal(new Set(shortNames).size, shortNames.length);
});
