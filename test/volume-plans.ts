/** Claims, classes, calls and views of the provisioner, in tests: an ordinary case, of which each test says what is different. */
import { provisioning } from "../src/api/names.ts";
import type {
  CSINode,
  Node,
  ObjectMeta,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../src/api/types.ts";
import type { CreateVolumeCall } from "../src/components/csi-provisioner/call.ts";
import type { DriverFacts, ProvisionerOptions } from "../src/components/csi-provisioner/prepare.ts";
import { aClaim, aContent, aSnapshot, driver } from "./builders.ts";

export const provisionerOptions: ProvisionerOptions = {
  volumeNamePrefix: "pvc",
  volumeNameUuidLength: -1,
  defaultFsType: "",
  extraCreateMetadata: false,
  strictTopology: false,
  immediateTopology: true,
  preventVolumeModeConversion: true,
  controllerPublishReadonly: false,
};

type ControllerCapability = DriverFacts["controller"] extends ReadonlySet<infer Name> ? Name : never;
type PluginCapability = DriverFacts["plugin"] extends ReadonlySet<infer Name> ? Name : never;

export const driverWith = (
  controller: readonly ControllerCapability[] = [],
  plugin: readonly PluginCapability[] = [],
): DriverFacts => ({
  name: driver,
  plugin: new Set(plugin),
  controller: new Set(["CREATE_DELETE_VOLUME", "CREATE_DELETE_SNAPSHOT", "CLONE_VOLUME", ...controller]),
});

/** A pending claim of one mebibyte that kube-controller-manager has given to our driver. */
export const aPendingClaim = ({
  metadata,
  spec,
  status = { phase: "Pending" },
}: {
  metadata?: Partial<ObjectMeta>;
  spec?: PersistentVolumeClaim["spec"];
  status?: PersistentVolumeClaim["status"];
} = {}): PersistentVolumeClaim =>
  aClaim({
    metadata: {
      name: "new",
      uid: "u-new",
      ...metadata,
      annotations: { [provisioning.storageProvisioner]: driver, ...metadata?.annotations },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      storageClassName: "fast",
      resources: { requests: { storage: "1Mi" } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  });

export const aStorageClass = (change: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast", uid: "uid-storage-class", resourceVersion: "1" },
  provisioner: driver,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
  ...change,
});

export const aReadySnapshot = (metadata: Partial<ObjectMeta> = {}, status: object = {}): VolumeSnapshot =>
  aSnapshot({
    metadata,
    status: { boundVolumeSnapshotContentName: "snapcontent-uid-snap", readyToUse: true, restoreSize: "1Mi", ...status },
  });

export const aReadyContent = (
  spec: Partial<VolumeSnapshotContent["spec"]> = {},
  annotations: Readonly<Record<string, string>> = {},
): VolumeSnapshotContent =>
  aContent({ spec, metadata: { annotations }, status: { snapshotHandle: "s-1", readyToUse: true } });

/** Two nodes in one zone each; the driver has registered its keys on both. */
export const aNode = (name: string, labels: Readonly<Record<string, string>>): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-${name}`, resourceVersion: "1", labels },
});
export const aCsiNode = (name: string, topologyKeys: readonly string[], driverName = driver): CSINode => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: { name, uid: `uid-csi-${name}`, resourceVersion: "1" },
  spec: { drivers: [{ name: driverName, nodeID: name, topologyKeys: [...topologyKeys] }] },
});

export const aCreateCall = (change: Partial<CreateVolumeCall> = {}): CreateVolumeCall => ({
  method: "create",
  name: "pvc-u-new",
  bytes: "1048576",
  capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "", flags: [] } }],
  parameters: {},
  ...change,
});
