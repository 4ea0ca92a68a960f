/** Other programs, of other releases, read and write these words: letter for letter, and not by the constants of ours. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { memberNamesFor } from "../rules/group-members.ts";
import { annotations, finalizers, groupContentNameFor, labels, parameters, snapshotContentNameFor } from "./names.ts";

test("finalizers have the names of external-snapshotter", () =>
  assert.deepEqual(finalizers, {
    snapshotAsSource: "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection",
    snapshotBound: "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection",
    snapshotInGroup: "snapshot.storage.kubernetes.io/volumesnapshot-in-group-protection",
    contentBound: "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection",
    claimAsSource: "snapshot.storage.kubernetes.io/pvc-as-source-protection",
    groupBound: "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-bound-protection",
    groupContentBound: "groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection",
    snapshotRestoring: "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection",
  }));

test("annotations and labels have the names of external-snapshotter", () => {
  assert.deepEqual(annotations, {
    defaultClass: "snapshot.storage.kubernetes.io/is-default-class",
    beingCreated: "snapshot.storage.kubernetes.io/volumesnapshot-being-created",
    beingDeleted: "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted",
    deletionSecretName: "snapshot.storage.kubernetes.io/deletion-secret-name",
    deletionSecretNamespace: "snapshot.storage.kubernetes.io/deletion-secret-namespace",
    allowVolumeModeChange: "snapshot.storage.kubernetes.io/allow-volume-mode-change",
    snapshotterId: "snapkeep.dev/snapshotter-id",
    formerSnapshotterId: "snapkeep.dev/cut-by",
    contentLost: "snapkeep.dev/content-lost",
    droppedSource: "snapkeep.dev/dropped-data-source",
    sourceNamespace: "snapkeep.dev/data-source-namespace",
    groupSnapshotHandle: "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle",
    defaultGroupClass: "groupsnapshot.storage.kubernetes.io/is-default-class",
    groupBeingCreated: "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-created",
    groupBeingDeleted: "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-deleted",
    groupDeletionSecretName: "groupsnapshot.storage.kubernetes.io/deletion-secret-name",
    groupDeletionSecretNamespace: "groupsnapshot.storage.kubernetes.io/deletion-secret-namespace",
    groupMembers: "groupsnapshot.storage.kubernetes.io/volume-snapshot-info-list",
    groupSources: "snapkeep.dev/group-sources",
  });
  assert.deepEqual(labels, {
    managedBy: "snapshot.storage.kubernetes.io/managed-by",
    invalidSnapshot: "snapshot.storage.kubernetes.io/invalid-snapshot-resource",
    invalidContent: "snapshot.storage.kubernetes.io/invalid-snapshot-content-resource",
  });
});

test("class parameters and content names are those of external-snapshotter", () => {
  assert.deepEqual(Object.values(parameters), [
    "csi.storage.k8s.io/",
    "csi.storage.k8s.io/snapshotter-secret-name",
    "csi.storage.k8s.io/snapshotter-secret-namespace",
    "csi.storage.k8s.io/snapshotter-list-secret-name",
    "csi.storage.k8s.io/snapshotter-list-secret-namespace",
    "csi.storage.k8s.io/group-snapshotter-secret-name",
    "csi.storage.k8s.io/group-snapshotter-secret-namespace",
    "csi.storage.k8s.io/group-snapshotter-get-secret-name",
    "csi.storage.k8s.io/group-snapshotter-get-secret-namespace",
    "csi.storage.k8s.io/volumesnapshot/name",
    "csi.storage.k8s.io/volumesnapshot/namespace",
    "csi.storage.k8s.io/volumesnapshotcontent/name",
    "csi.storage.k8s.io/volumegroupsnapshot/name",
    "csi.storage.k8s.io/volumegroupsnapshot/namespace",
    "csi.storage.k8s.io/volumegroupsnapshotcontent/name",
  ]);
  assert.equal(snapshotContentNameFor("1-2"), "snapcontent-1-2");
  assert.equal(groupContentNameFor("1-2"), "groupsnapcontent-1-2");
  assert.deepEqual(memberNamesFor("ab"), { snapshot: "snapshot-ab", content: "snapcontent-ab" });
});
