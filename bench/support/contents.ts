/** VolumeSnapshotContents as a real API server prints them: keys sorted, with the record of two managers' fields. */
const hex = (index: number): string => index.toString(16).padStart(12, "0");

export function contentAt(index: number, versionBase = 100_000): object {
  const uid = `5f1c8a52-9a0e-4c55-8d0c-${hex(index)}`;
  const name = `snapcontent-${uid}`;
  return {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: {
      annotations: { "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": "no" },
      creationTimestamp: "2026-01-01T00:00:00Z",
      finalizers: ["snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"],
      generation: 1,
      managedFields: [
        managedBy("snapshot-controller", undefined, {
          "f:metadata": {
            "f:annotations": { ".": {}, "f:snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": {} },
            "f:finalizers": {
              ".": {},
              'v:"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"': {},
            },
          },
          "f:spec": {
            ".": {},
            "f:deletionPolicy": {},
            "f:driver": {},
            "f:source": { ".": {}, "f:volumeHandle": {} },
            "f:sourceVolumeMode": {},
            "f:volumeSnapshotClassName": {},
            "f:volumeSnapshotRef": {},
          },
        }),
        managedBy("csi-snapshotter", "status", {
          "f:status": {
            ".": {},
            "f:creationTime": {},
            "f:readyToUse": {},
            "f:restoreSize": {},
            "f:snapshotHandle": {},
          },
        }),
      ],
      name,
      resourceVersion: String(versionBase + index),
      uid: `0d3ab1de-7a54-4d0f-93f4-${hex(index)}`,
    },
    spec: {
      deletionPolicy: "Delete",
      driver: "hostpath.csi.k8s.io",
      source: { volumeHandle: `vol-${hex(index)}` },
      sourceVolumeMode: "Filesystem",
      volumeSnapshotClassName: "csi-hostpath-snapclass",
      volumeSnapshotRef: {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        name: `snapshot-${index}`,
        namespace: "default",
        resourceVersion: String(90_000 + index),
        uid,
      },
    },
    // Milliseconds, not nanoseconds: the other client would corrupt the number, and both must do the same work.
    status: {
      creationTime: 1_763_200_000_123,
      readyToUse: true,
      restoreSize: 1_073_741_824,
      snapshotHandle: `snap-${hex(index)}`,
    },
  };
}

const managedBy = (manager: string, subresource: string | undefined, fieldsV1: object): object => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  fieldsType: "FieldsV1",
  fieldsV1,
  manager,
  operation: "Update",
  subresource,
  time: "2026-01-01T00:00:00Z",
});
