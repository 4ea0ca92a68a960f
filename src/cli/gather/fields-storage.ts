/** What of snapshots, claims, volumes and their classes goes into a bundle. */
import { provisioning } from "../../api/names.ts";
import { any, classParameters, condition, failure, type KeptFields, kept, secretRef } from "./fields-common.ts";

export const snapshotFields = {
  VolumeSnapshot: kept({
    spec: { source: "all", volumeSnapshotClassName: "keep" },
    status: {
      boundVolumeSnapshotContentName: "keep",
      creationTime: "keep",
      readyToUse: "keep",
      restoreSize: "keep",
      volumeGroupSnapshotName: "keep",
      error: failure,
    },
  }),
  VolumeSnapshotContent: kept({
    spec: {
      deletionPolicy: "keep",
      driver: "keep",
      source: any("text"),
      sourceVolumeMode: "keep",
      volumeSnapshotClassName: "keep",
      volumeSnapshotRef: "all",
    },
    status: {
      creationTime: "keep",
      readyToUse: "keep",
      restoreSize: "keep",
      snapshotHandle: "text",
      volumeGroupSnapshotHandle: "text",
      error: failure,
    },
  }),
  VolumeSnapshotClass: kept({ driver: "keep", deletionPolicy: "keep", parameters: classParameters }),
  VolumeSnapshotLink: kept({ spec: "all" }),
  VolumeGroupSnapshot: kept({
    spec: { source: "all", volumeGroupSnapshotClassName: "keep" },
    status: {
      boundVolumeGroupSnapshotContentName: "keep",
      creationTime: "keep",
      readyToUse: "keep",
      error: failure,
    },
  }),
  VolumeGroupSnapshotContent: kept({
    spec: {
      deletionPolicy: "keep",
      driver: "keep",
      source: {
        volumeHandles: "text",
        groupSnapshotHandles: { volumeGroupSnapshotHandle: "text", volumeSnapshotHandles: "text" },
      },
      volumeGroupSnapshotClassName: "keep",
      volumeGroupSnapshotRef: "all",
    },
    status: {
      creationTime: "keep",
      readyToUse: "keep",
      volumeGroupSnapshotHandle: "text",
      volumeSnapshotInfoList: {
        creationTime: "keep",
        readyToUse: "keep",
        restoreSize: "keep",
        snapshotHandle: "text",
        volumeHandle: "text",
      },
      error: failure,
    },
  }),
  VolumeGroupSnapshotClass: kept({ driver: "keep", deletionPolicy: "keep", parameters: classParameters }),
  ReferenceGrant: kept({ spec: "all" }),
  VolumePopulator: kept({ sourceKind: "all" }),
} as const satisfies Record<string, KeptFields>;

export const share = kept({
  spec: { description: "text", secretRef, configMapRef: secretRef },
  status: { conditions: condition },
});

export const storageKinds = {
  PersistentVolumeClaim: kept({
    spec: {
      accessModes: "all",
      dataSource: "all",
      dataSourceRef: "all",
      resources: "all",
      selector: "all",
      storageClassName: "keep",
      volumeAttributesClassName: "keep",
      volumeMode: "keep",
      volumeName: "keep",
    },
    status: {
      accessModes: "all",
      allocatedResources: "all",
      allocatedResourceStatuses: "all",
      capacity: "all",
      conditions: condition,
      currentVolumeAttributesClassName: "keep",
      modifyVolumeStatus: "all",
      phase: "keep",
    },
  }),
  PersistentVolume: kept({
    spec: {
      accessModes: "all",
      capacity: "all",
      claimRef: "all",
      csi: {
        driver: "keep",
        fsType: "keep",
        readOnly: "keep",
        volumeHandle: "text",
        volumeAttributes: { [provisioning.identityAttribute]: "keep" },
        controllerExpandSecretRef: secretRef,
        controllerPublishSecretRef: secretRef,
        nodeExpandSecretRef: secretRef,
        nodePublishSecretRef: secretRef,
        nodeStageSecretRef: secretRef,
      },
      nodeAffinity: "all",
      persistentVolumeReclaimPolicy: "keep",
      storageClassName: "keep",
      volumeAttributesClassName: "keep",
      volumeMode: "keep",
    },
    status: { lastPhaseTransitionTime: "keep", message: "text", phase: "keep", reason: "keep" },
  }),
  StorageClass: kept({
    allowedTopologies: "all",
    allowVolumeExpansion: "keep",
    parameters: classParameters,
    provisioner: "keep",
    reclaimPolicy: "keep",
    volumeBindingMode: "keep",
  }),
  VolumeAttributesClass: kept({ driverName: "keep", parameters: classParameters }),
  CSIDriver: kept({ spec: "all" }),
  CSINode: kept({ spec: "all" }),
  CSIStorageCapacity: kept({
    capacity: "keep",
    maximumVolumeSize: "keep",
    nodeTopology: "all",
    storageClassName: "keep",
  }),
  VolumeAttachment: kept({
    spec: { attacher: "keep", nodeName: "keep", source: { persistentVolumeName: "keep" } },
    status: { attached: "keep", attachError: failure, detachError: failure },
  }),
} as const satisfies Record<string, KeptFields>;
