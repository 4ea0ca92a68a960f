import assert from "node:assert/strict";
import { test } from "node:test";
import type { RestoreObjects, RestorePlan, RestoreWishes } from "./claim-draft.ts";
import { planRestore } from "./claim-draft.ts";

const stored = (namespace: string | undefined, name: string, more: object = {}) => ({
  metadata: {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid: `uid-${name}`,
    resourceVersion: "1",
    ...more,
  },
});
const driver = "disk.example.com";
const snapshot = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  ...stored("team", "monday"),
  spec: { source: { persistentVolumeClaimName: "data" } },
  status: { readyToUse: true, restoreSize: "2Gi", boundVolumeSnapshotContentName: "c" },
} as const;
const content = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  ...stored(undefined, "c"),
  spec: { driver, deletionPolicy: "Delete", volumeSnapshotRef: {}, source: {}, sourceVolumeMode: "Block" },
} as const;
const source = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  ...stored("team", "data"),
  spec: { storageClassName: "gold", accessModes: ["ReadWriteMany"], resources: { requests: { storage: "5Gi" } } },
} as RestoreObjects["source"];
const storageClass = (name: string, provisioner: string, annotations: object = {}) =>
  ({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    ...stored(undefined, name, { annotations }),
    provisioner,
  }) as NonNullable<RestoreObjects["storageClasses"]>[number];
const isDefault = { "storageclass.kubernetes.io/is-default-class": "true" };
const grant = (to: object = { group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot" }) =>
  ({
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    ...stored("team", "g"),
    spec: { from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "staging" }], to: [to] },
  }) as NonNullable<RestoreObjects["grants"]>[number];

const all: RestoreObjects = { snapshot, content, source, storageClasses: [], grants: [] };
const wishes: RestoreWishes = {
  from: { namespace: "team", name: "monday" },
  to: { namespace: "team", name: "again" },
  storageClass: "",
  size: "",
  accessModes: [],
};
const elsewhere = { to: { namespace: "staging", name: "again" } };

const planned = (read: Partial<RestoreObjects> = {}, wish: Partial<RestoreWishes> = {}): RestorePlan => {
  const decision = planRestore({ ...all, ...read }, { ...wishes, ...wish });
  assert.ok(!("refused" in decision), JSON.stringify(decision));
  return decision;
};
const refusal = (read: Partial<RestoreObjects>, wish: Partial<RestoreWishes> = {}): string => {
  const decision = planRestore({ ...all, ...read }, { ...wishes, ...wish });
  assert.ok("refused" in decision, JSON.stringify(decision));
  return decision.refused;
};

test("the claim has the snapshot's size and mode, and class and access modes of the claim that it was taken of", () => {
  assert.deepEqual(planned().claim.spec, {
    accessModes: ["ReadWriteMany"],
    storageClassName: "gold",
    volumeMode: "Block",
    resources: { requests: { storage: "2Gi" } },
    dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" },
  });
});

test("what is wished goes before what the source has", () => {
  const { spec } = planned({}, { storageClass: "silver", size: "3Gi", accessModes: ["ReadWriteOnce"] }).claim;
  assert.deepEqual(
    [spec?.storageClassName, spec?.resources?.requests?.storage, spec?.accessModes],
    ["silver", "3Gi", ["ReadWriteOnce"]],
  );
});

test("without its source, the class is the default one of the driver, else the only one of the driver", () => {
  const other = storageClass("other", "nfs.example.com", isDefault);
  const [one, two] = [storageClass("one", driver), storageClass("two", driver, isDefault)];
  const classOf = (storageClasses: RestoreObjects["storageClasses"]) =>
    planned({ source: undefined, storageClasses }).claim.spec?.storageClassName;
  assert.equal(classOf([other, one, two]), "two");
  assert.equal(classOf([other, one]), "one");
  const none = { source: undefined, storageClasses: [other, one, storageClass("three", driver)] };
  assert.match(refusal(none), /\[SNAP-874\]$/);
  assert.match(refusal({ source: undefined, storageClasses: undefined }), /\[SNAP-874\]$/);
});

test("the size falls back to the content's, then to the source's, and is asked for otherwise", () => {
  const unsized = { ...snapshot, status: {} };
  const sizeOf = (read: Partial<RestoreObjects>) =>
    planned({ snapshot: unsized, ...read }).claim.spec?.resources?.requests?.storage;
  assert.equal(sizeOf({ content: { ...content, status: { restoreSize: 1_073_741_824n } } }), "1Gi");
  // A driver that does not know the size reports 0.
  assert.equal(sizeOf({ content: { ...content, status: { restoreSize: 0 } } }), "5Gi");
  assert.equal(sizeOf({ content: undefined }), "5Gi");
  const gone = { snapshot: unsized, source: undefined };
  assert.match(refusal(gone, { storageClass: "gold" }), /\[SNAP-877\]$/);
});

test("a snapshot that is not there or is being deleted, and a size that is too small, are refused", () => {
  assert.match(refusal({ snapshot: undefined }), /^VolumeSnapshot team\/monday does not exist; .* \[SNAP-873\]$/);
  const going = { ...snapshot, metadata: { ...snapshot.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.match(refusal({ snapshot: going }), /is being deleted; .* \[SNAP-873\]$/);
  assert.match(refusal({}, { size: "1Gi" }), /^--size=1Gi is less; ask for 2Gi or more.* \[SNAP-876\]$/);
});

test("another namespace needs a grant for this snapshot and no more, unless one is there", () => {
  const { claim, missingGrant, grantIsUnknown } = planned({}, elsewhere);
  assert.deepEqual(claim.spec?.dataSourceRef, {
    apiGroup: "snapshot.storage.k8s.io",
    kind: "VolumeSnapshot",
    name: "monday",
    namespace: "team",
  });
  assert.equal(claim.spec?.dataSource, undefined);
  assert.deepEqual(missingGrant?.metadata, { namespace: "team", name: "monday-to-staging" });
  assert.deepEqual(missingGrant?.spec, {
    from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "staging" }],
    to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" }],
  });
  assert.equal(grantIsUnknown, false);
  assert.equal(planned({ grants: [grant()] }, elsewhere).missingGrant, undefined);
  const ofTuesday = grant({ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "tuesday" });
  assert.notEqual(planned({ grants: [ofTuesday] }, elsewhere).missingGrant, undefined);
  assert.equal(planned({ grants: undefined }, elsewhere).grantIsUnknown, true);
});

test("within a namespace no grant is needed", () => {
  assert.deepEqual([planned({ grants: undefined }).missingGrant, planned().grantIsUnknown], [undefined, false]);
});
