/** Groups for tests: each builder gives a valid, settled object; a test states only what matters to it. */
import { annotations, finalizers } from "../src/api/names.ts";
import type {
  ObjectMeta,
  VolumeGroupSnapshot,
  VolumeGroupSnapshotClass,
  VolumeGroupSnapshotContent,
  VolumeSnapshotInfo,
} from "../src/api/types.ts";
import { driver } from "./builders.ts";

type Change<T extends { metadata: ObjectMeta }> = Partial<Omit<T, "metadata">> & { metadata?: Partial<ObjectMeta> };
const apiVersion = "groupsnapshot.storage.k8s.io/v1";
const born = { resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" } as const;
export const groupContentName = "groupsnapcontent-uid-group";
export const groupGoing = "2026-01-01T01:00:00Z";

export const aGroup = ({ metadata, ...rest }: Change<VolumeGroupSnapshot> = {}): VolumeGroupSnapshot => ({
  apiVersion,
  kind: "VolumeGroupSnapshot",
  metadata: {
    name: "group",
    namespace: "team",
    uid: "uid-group",
    ...born,
    finalizers: [finalizers.groupBound],
    ...metadata,
  },
  spec: { source: { selector: { matchLabels: { app: "db" } } }, volumeGroupSnapshotClassName: "fast" },
  ...rest,
});

export const aGroupContent = ({
  metadata,
  spec,
  ...rest
}: Omit<Change<VolumeGroupSnapshotContent>, "spec"> & {
  spec?: Partial<VolumeGroupSnapshotContent["spec"]>;
} = {}): VolumeGroupSnapshotContent => ({
  apiVersion,
  kind: "VolumeGroupSnapshotContent",
  metadata: {
    name: groupContentName,
    uid: "uid-group-content",
    ...born,
    finalizers: [finalizers.groupContentBound],
    ...metadata,
  },
  spec: {
    volumeGroupSnapshotRef: { namespace: "team", name: "group", uid: "uid-group" },
    source: { volumeHandles: ["vol-1", "vol-2"] },
    deletionPolicy: "Delete",
    driver,
    volumeGroupSnapshotClassName: "fast",
    ...spec,
  },
  ...rest,
});

export const aGroupClass = ({
  metadata,
  ...rest
}: Change<VolumeGroupSnapshotClass> = {}): VolumeGroupSnapshotClass => ({
  apiVersion,
  kind: "VolumeGroupSnapshotClass",
  metadata: { name: "fast", uid: "uid-group-class", ...born, ...metadata },
  driver,
  deletionPolicy: "Delete",
  ...rest,
});

export const groupMembers: readonly VolumeSnapshotInfo[] = ["1", "2"].map((number) => ({
  volumeHandle: `vol-${number}`,
  snapshotHandle: `s-${number}`,
  creationTime: 1_767_225_601_000_000_000n,
  readyToUse: true,
  restoreSize: 5n,
}));
export const groupTaken = {
  volumeGroupSnapshotHandle: "g-1",
  creationTime: "2026-01-01T00:00:01Z",
  readyToUse: true,
  volumeSnapshotInfoList: groupMembers,
};
export const groupBeingCreated = { annotations: { [annotations.groupBeingCreated]: "yes" } };
export const groupTerminating = {
  deletionTimestamp: groupGoing,
  annotations: { [annotations.groupBeingDeleted]: "yes" },
};
