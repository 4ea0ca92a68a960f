import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, refOf } from "./builders.ts";

test("a draft carries the kind's own apiVersion and kind", () => {
  const draft = draftOf(
    "VolumeSnapshot",
    { namespace: "team", name: "monday" },
    { spec: { source: { persistentVolumeClaimName: "data" } } },
  );
  assert.deepEqual(draft, {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { namespace: "team", name: "monday" },
    spec: { source: { persistentVolumeClaimName: "data" } },
  });
});

test("a reference has the uid, not only the name", () => {
  const object = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "a", name: "b", uid: "u1", resourceVersion: "7" },
  };
  assert.deepEqual(refOf("Secret", object), { kind: "Secret", namespace: "a", name: "b", uid: "u1" });
});
