/** The words that are the contract with other tools: finalizers, annotations, labels and class parameters, spelled once. */
const snapshotDomain = "snapshot.storage.kubernetes.io";
const groupDomain = "groupsnapshot.storage.kubernetes.io";

export const finalizers = {
  snapshotAsSource: `${snapshotDomain}/volumesnapshot-as-source-protection`,
  snapshotBound: `${snapshotDomain}/volumesnapshot-bound-protection`,
  snapshotInGroup: `${snapshotDomain}/volumesnapshot-in-group-protection`,
  contentBound: `${snapshotDomain}/volumesnapshotcontent-bound-protection`,
  claimAsSource: `${snapshotDomain}/pvc-as-source-protection`,
  groupBound: `${groupDomain}/volumegroupsnapshot-bound-protection`,
  groupContentBound: `${groupDomain}/volumegroupsnapshotcontent-bound-protection`,
  snapshotRestoring: "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection",
} as const;

export const annotations = {
  defaultClass: `${snapshotDomain}/is-default-class`,
  beingCreated: `${snapshotDomain}/volumesnapshot-being-created`,
  beingDeleted: `${snapshotDomain}/volumesnapshot-being-deleted`,
  deletionSecretName: `${snapshotDomain}/deletion-secret-name`,
  deletionSecretNamespace: `${snapshotDomain}/deletion-secret-namespace`,
  allowVolumeModeChange: `${snapshotDomain}/allow-volume-mode-change`,
  /** Ours alone, and only beside being-created: the id of the csi-snapshotter process that may have called CreateSnapshot. */
  snapshotterId: "snapkeep.dev/snapshotter-id",
  /** Its name in release 0.1: removed wherever snapshotterId is, and never written. */
  formerSnapshotterId: "snapkeep.dev/cut-by",
  /** Ours alone: the uid of the snapshot that carries it, whose content was removed after it had been ready. */
  contentLost: "snapkeep.dev/content-lost",
  /** Ours alone: what a policy says of the data source of a claim that is being created, and that is refused then. */
  droppedSource: "snapkeep.dev/dropped-data-source",
  /** Ours alone: the namespace that a claim named for its data source when it was created. */
  sourceNamespace: "snapkeep.dev/data-source-namespace",
  groupSnapshotHandle: "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle",
  defaultGroupClass: `${groupDomain}/is-default-class`,
  groupBeingCreated: `${groupDomain}/volumegroupsnapshot-being-created`,
  groupBeingDeleted: `${groupDomain}/volumegroupsnapshot-being-deleted`,
  groupDeletionSecretName: `${groupDomain}/deletion-secret-name`,
  groupDeletionSecretNamespace: `${groupDomain}/deletion-secret-namespace`,
  /** The members of a group, as upstream's conversion webhook keeps them from clients of v1beta1. */
  groupMembers: `${groupDomain}/volume-snapshot-info-list`,
  /** Ours alone, on a group content: claim and mode of each volume, as they were when the group was first processed. */
  groupSources: "snapkeep.dev/group-sources",
} as const;

export const labels = {
  managedBy: `${snapshotDomain}/managed-by`,
  invalidSnapshot: `${snapshotDomain}/invalid-snapshot-resource`,
  invalidContent: `${snapshotDomain}/invalid-snapshot-content-resource`,
} as const;

/** The prefix that the requirement document writes in one place; older releases may have put these on objects. */
export const oldInvalidLabels: readonly string[] = [
  "snapshot.storage.sigs.k8s.io/invalid-snapshot-resource",
  "snapshot.storage.sigs.k8s.io/invalid-snapshot-content-resource",
];

const parameterDomain = "csi.storage.k8s.io";

export const parameters = {
  prefix: `${parameterDomain}/`,
  snapshotterSecretName: `${parameterDomain}/snapshotter-secret-name`,
  snapshotterSecretNamespace: `${parameterDomain}/snapshotter-secret-namespace`,
  snapshotterListSecretName: `${parameterDomain}/snapshotter-list-secret-name`,
  snapshotterListSecretNamespace: `${parameterDomain}/snapshotter-list-secret-namespace`,
  groupSnapshotterSecretName: `${parameterDomain}/group-snapshotter-secret-name`,
  groupSnapshotterSecretNamespace: `${parameterDomain}/group-snapshotter-secret-namespace`,
  groupSnapshotterGetSecretName: `${parameterDomain}/group-snapshotter-get-secret-name`,
  groupSnapshotterGetSecretNamespace: `${parameterDomain}/group-snapshotter-get-secret-namespace`,
  metadataSnapshotName: `${parameterDomain}/volumesnapshot/name`,
  metadataSnapshotNamespace: `${parameterDomain}/volumesnapshot/namespace`,
  metadataContentName: `${parameterDomain}/volumesnapshotcontent/name`,
  metadataGroupName: `${parameterDomain}/volumegroupsnapshot/name`,
  metadataGroupNamespace: `${parameterDomain}/volumegroupsnapshot/namespace`,
  metadataGroupContentName: `${parameterDomain}/volumegroupsnapshotcontent/name`,
} as const;

/**
 * The conditions of SharedSecrets and SharedConfigMaps, and who writes them. Neither webhook nor controller nor driver acts on them:
 * they are for people, watches and alerts.
 */
export const shareConditions = {
  /** The referenced Secret or ConfigMap exists. Written by the shared-resource controller; whoever brings a share may write it too. */
  available: "Available",
  /** The referenced object is fit for its purpose. Written only by the operator that brings the share. */
  ready: "Ready",
} as const;

/** The rule of the replaced sidecars, letter for letter: with another lease a swap would have two leaders. */
export function leaseNameFrom(text: string): string {
  const name = text.replace(/[^A-Za-z0-9-]/g, "-");
  return name.endsWith("-") ? `${name}X` : name;
}

/** The csi-provisioner stores its CreateVolume calls in a Lease of this name beside the election's. */
export const createVolumeCallsSuffix = "-create-volume-calls";

export const snapshotContentNameFor = (snapshotUid: string): string => `snapcontent-${snapshotUid}`;

export const groupContentNameFor = (groupUid: string): string => `groupsnapcontent-${groupUid}`;

/** Labels of CSIStorageCapacity objects: those of external-provisioner, which takes its own by them. */
export const capacityLabels = {
  driver: "csi.storage.k8s.io/drivername",
  managedBy: "csi.storage.k8s.io/managed-by",
} as const;

/** external-provisioner, kube-controller-manager and kube-scheduler use these names. */
export const provisioning = {
  defaultClass: "storageclass.kubernetes.io/is-default-class",
  claimCloningFinalizer: "provisioner.storage.kubernetes.io/cloning-protection",
  volumeFinalizer: "external-provisioner.volume.kubernetes.io/finalizer",
  storageProvisioner: "volume.kubernetes.io/storage-provisioner",
  betaStorageProvisioner: "volume.beta.kubernetes.io/storage-provisioner",
  betaStorageClass: "volume.beta.kubernetes.io/storage-class",
  selectedNode: "volume.kubernetes.io/selected-node",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  deletionSecretName: "volume.kubernetes.io/provisioner-deletion-secret-name",
  deletionSecretNamespace: "volume.kubernetes.io/provisioner-deletion-secret-namespace",
  modifySecretName: "volume.kubernetes.io/controller-modify-secret-name",
  modifySecretNamespace: "volume.kubernetes.io/controller-modify-secret-namespace",
  identityAttribute: "storage.kubernetes.io/csiProvisionerIdentity",
} as const;
