/** Objects for tests: each builder gives a valid, settled object; a test states only what matters to it. */
import { finalizers } from "../src/api/names.ts";
import type {
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../src/api/types.ts";

type Meta = Partial<ObjectMeta>;
const meta = (name: string, uid: string, change: Meta = {}, namespace?: string): ObjectMeta => ({
  name,
  uid,
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
  ...(namespace === undefined ? {} : { namespace }),
  ...change,
});

export const driver = "disk.example.com";

export const aSnapshot = ({
  metadata,
  ...rest
}: Partial<Omit<VolumeSnapshot, "metadata">> & { metadata?: Meta } = {}): VolumeSnapshot => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: meta("monday", "uid-snap", metadata, "team"),
  spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" },
  ...rest,
});

export const aContent = ({
  metadata,
  spec,
  ...rest
}: Partial<Omit<VolumeSnapshotContent, "metadata" | "spec">> & {
  metadata?: Meta;
  spec?: Partial<VolumeSnapshotContent["spec"]>;
} = {}): VolumeSnapshotContent => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: meta("snapcontent-uid-snap", "uid-content", { finalizers: [finalizers.contentBound], ...metadata }),
  spec: {
    volumeSnapshotRef: { namespace: "team", name: "monday", uid: "uid-snap" },
    source: { volumeHandle: "vol-1" },
    deletionPolicy: "Delete",
    driver,
    volumeSnapshotClassName: "fast",
    ...spec,
  },
  ...rest,
});

export const aClass = ({
  metadata,
  ...rest
}: Partial<Omit<VolumeSnapshotClass, "metadata">> & { metadata?: Meta } = {}): VolumeSnapshotClass => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotClass",
  metadata: meta("fast", "uid-class", metadata),
  driver,
  deletionPolicy: "Delete",
  ...rest,
});

export const aClaim = ({
  metadata,
  spec,
  status,
}: {
  metadata?: Meta;
  spec?: PersistentVolumeClaim["spec"];
  status?: PersistentVolumeClaim["status"];
} = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: meta("data", "uid-claim", metadata, "team"),
  spec: spec ?? { volumeName: "pv-1" },
  status: status ?? { phase: "Bound" },
});

export const aVolume = ({
  metadata,
  spec,
}: {
  metadata?: Meta;
  spec?: PersistentVolume["spec"];
} = {}): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: meta("pv-1", "uid-volume", metadata),
  spec: spec ?? {
    csi: { driver, volumeHandle: "vol-1" },
    claimRef: { namespace: "team", name: "data", uid: "uid-claim" },
    volumeMode: "Filesystem",
  },
});
