/** What stands in a simulated cluster for scenarios of the provisioner, and the claims that its users create. */
import { finalizers, snapshotContentNameFor } from "../../src/api/names.ts";
import type { Draft } from "../../src/api/types.ts";
import type { ApiObject } from "../../src/apiserver/index.ts";
import { type Backend, driver } from "./backend.ts";

interface StorageClassOptions {
  readonly policy?: "Delete" | "Retain";
  readonly withSecret?: boolean;
}

export const aStorageClass = (
  name: string,
  { policy = "Delete", withSecret = false }: StorageClassOptions = {},
): ApiObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name },
  provisioner: driver,
  reclaimPolicy: policy,
  volumeBindingMode: "Immediate",
  ...(withSecret
    ? {
        parameters: {
          "csi.storage.k8s.io/provisioner-secret-name": "login",
          "csi.storage.k8s.io/provisioner-secret-namespace": "default",
        },
      }
    : {}),
});

interface ClaimOptions {
  readonly className?: string;
  readonly namespace?: string;
  readonly storage?: string;
  /** "VolumeSnapshot/monday" */
  readonly source?: string;
}

export const aNewClaim = (
  name: string,
  { className = "disk", namespace = "default", storage = "1Gi", source }: ClaimOptions = {},
): Draft => {
  const [kind = "", sourceName = ""] = source?.split("/") ?? [];
  const apiGroup = kind === "VolumeSnapshot" ? { apiGroup: "snapshot.storage.k8s.io" } : {};
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace, name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: className,
      resources: { requests: { storage } },
      ...(source === undefined ? {} : { dataSource: { ...apiGroup, kind, name: sourceName } }),
    },
  } as unknown as Draft;
};

const snapshotUid = "5eed0000-0000-4000-8000-000000000001";
const handle = `handle-snapshot-${snapshotUid}-0`;
const contentName = snapshotContentNameFor(snapshotUid);
const restoreSize = "1Gi";

/** Snapshot "monday", ready, with its content. */
export const aReadySnapshot: readonly ApiObject[] = [
  {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: {
      namespace: "default",
      name: "monday",
      uid: snapshotUid,
      finalizers: [finalizers.snapshotAsSource, finalizers.snapshotBound],
    },
    spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "delete" },
    status: {
      boundVolumeSnapshotContentName: contentName,
      creationTime: "2026-01-01T00:00:00Z",
      readyToUse: true,
      restoreSize,
    },
  },
  {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: { name: contentName, finalizers: [finalizers.contentBound] },
    spec: {
      driver,
      deletionPolicy: "Delete",
      source: { volumeHandle: "vol-data" },
      sourceVolumeMode: "Filesystem",
      volumeSnapshotClassName: "delete",
      volumeSnapshotRef: {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        namespace: "default",
        name: "monday",
        uid: snapshotUid,
      },
    },
    status: {
      snapshotHandle: handle,
      creationTime: 1_767_225_600_000_000_000n,
      readyToUse: true,
      restoreSize: 2 ** 30,
    },
  },
];

export const withReadySnapshot = ({ snapshots }: Backend): void =>
  void snapshots.set(handle, {
    id: handle,
    name: `snapshot-${snapshotUid}`,
    volumeId: "vol-data",
    takenAtMs: 1_767_225_600_000,
    readyAtMs: 0,
  });
