/** What exactly is written on the way from a protected claim to a ready snapshot. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, aSnapshot } from "../../../test/builders.ts";
import { aProtectedView as aView, both, readyContent, readyStatus } from "../../../test/snapshot-plans.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { planSnapshot } from "./plan.ts";

test("one default class is written into the snapshot together with the finalizers", () => {
  const view = aView({
    snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
    snapshotClass: undefined,
    defaultClasses: [aClass({ deletionPolicy: "Retain" })],
  });
  const [protect] = planSnapshot(view).actions;
  assert.ok(protect?.kind === "patch");
  assert.deepEqual(protect.patch.body, {
    metadata: { resourceVersion: "1", finalizers: [finalizers.snapshotAsSource] },
    spec: { volumeSnapshotClassName: "fast" },
  });
});

const secretClass = aClass({
  parameters: {
    "csi.storage.k8s.io/snapshotter-secret-name": "${volumesnapshot.name}",
    "csi.storage.k8s.io/snapshotter-secret-namespace": "vault",
  },
});

test("the content is created with its finalizer, its uid-based name, its secret annotations and the volume mode", () => {
  const create = planSnapshot(
    aView({ snapshotClass: secretClass, place: { kind: "node", name: "node-7" } }),
  ).actions.find((action) => action.kind === "create");
  assert.deepEqual(create?.object, {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: {
      name: "snapcontent-uid-snap",
      finalizers: [finalizers.contentBound],
      annotations: { [annotations.deletionSecretName]: "monday", [annotations.deletionSecretNamespace]: "vault" },
      labels: { "snapshot.storage.kubernetes.io/managed-by": "node-7" },
    },
    spec: {
      volumeSnapshotRef: {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        namespace: "team",
        name: "monday",
        uid: "uid-snap",
        resourceVersion: "1",
      },
      source: { volumeHandle: "vol-1" },
      volumeSnapshotClassName: "fast",
      deletionPolicy: "Delete",
      driver: "disk.example.com",
      sourceVolumeMode: "Filesystem",
    },
  });
});

test("a content that needs a secret is never created with the being-created annotation", () => {
  const create = planSnapshot(aView({ snapshotClass: secretClass, activeSidecar: "third" })).actions.find(
    (action) => action.kind === "create",
  );
  const notes = (create?.object as ReturnType<typeof aContent> | undefined)?.metadata.annotations ?? {};
  assert.deepEqual(Object.keys(notes), [annotations.deletionSecretName, annotations.deletionSecretNamespace]);
});

const sidecars: readonly [given: string, activeSidecar: string | undefined, expect: object | undefined][] = [
  [
    "an active sidecar has the being-created annotation with its id",
    "third",
    { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: "third" },
  ],
  ["no sidecar that is known has no annotation", undefined, undefined],
];
for (const [given, activeSidecar, expect] of sidecars)
  test(`a content that is created for ${given}`, () => {
    const create = planSnapshot(aView({ activeSidecar })).actions.find((action) => action.kind === "create");
    assert.ok(create !== undefined);
    assert.deepEqual((create.object as ReturnType<typeof aContent>).metadata.annotations, expect);
  });

test("with volume mode conversion allowed, the content has no source volume mode", () => {
  const create = planSnapshot(aView({ keepsVolumeMode: false })).actions.find((action) => action.kind === "create");
  assert.ok(create !== undefined);
  assert.ok(!("sourceVolumeMode" in (create.object as ReturnType<typeof aContent>).spec));
});

test("a pre-provisioned content gets the snapshot's uid and class, and nothing else of its spec changes", () => {
  const content = aContent({
    metadata: { name: "old", finalizers: ["x/keep"] },
    spec: { source: { snapshotHandle: "s" }, volumeSnapshotRef: { namespace: "team", name: "monday" } },
  });
  const { volumeSnapshotClassName: _, ...spec } = content.spec;
  const view = aView({
    snapshot: aSnapshot({
      metadata: { finalizers: both },
      spec: { source: { volumeSnapshotContentName: "old" }, volumeSnapshotClassName: "fast" },
    }),
    content: { ...content, spec },
  });
  const [bind] = planSnapshot(view).actions;
  assert.ok(bind?.kind === "patch");
  assert.deepEqual(bind.patch.body, {
    metadata: { resourceVersion: "1", finalizers: ["x/keep", finalizers.contentBound] },
    spec: { volumeSnapshotRef: { uid: "uid-snap" }, volumeSnapshotClassName: "fast" },
  });
});

test("the ready status carries exact times and sizes and clears an old error", () => {
  const snapshot = aSnapshot({
    metadata: { finalizers: both },
    status: { error: { message: "earlier" }, volumeGroupSnapshotName: "kept" },
  });
  const [write] = planSnapshot(aView({ snapshot, content: readyContent })).actions;
  assert.ok(write?.kind === "patch");
  assert.deepEqual(write.patch.body, {
    metadata: { resourceVersion: "1" },
    status: {
      error: null,
      boundVolumeSnapshotContentName: "snapcontent-uid-snap",
      readyToUse: true,
      creationTime: "2026-01-01T00:00:01Z",
      restoreSize: "1Gi",
    },
  });
});

test("a ready snapshot stays ready if the driver later reports it as not ready", () => {
  const content = aContent({
    status: {
      readyToUse: false,
      snapshotHandle: "s-1",
      creationTime: 1_767_225_601_123_456_789n,
      restoreSize: 1_073_741_824,
      error: { message: "flap" },
    },
  });
  assert.deepEqual(
    planSnapshot(aView({ snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }), content }))
      .actions,
    [],
  );
});
