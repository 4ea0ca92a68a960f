/** A healthy cluster for the cases of `explain`: each case says what is different in it. */
import { finalizers } from "../../src/api/names.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";

/** The moment at which each case is looked at. */
export const now = "2026-03-01T12:00:00Z";
export const ago = (seconds: number): string =>
  new Date(Date.parse(now) - seconds * 1000).toISOString().replace(".000", "");
/** Leases have six fraction digits. */
const leaseTime = (seconds: number): string =>
  new Date(Date.parse(now) - seconds * 1000).toISOString().replace("Z", "000Z");

export const driver = "disk.example.com";

/** Kind, namespace and name as a user types them, `-` for no namespace: `VolumeSnapshot team/monday`, `StorageClass fast`. */
export type ObjectId = `${string} ${string}`;
export interface ClusterObject extends JsonObject {
  readonly kind: string;
  readonly metadata: JsonObject;
}

export const idOf = ({ kind, metadata: { namespace, name } }: ClusterObject): ObjectId =>
  namespace === undefined ? `${kind} ${String(name)}` : `${kind} ${String(namespace)}/${String(name)}`;

/** A field that a case takes away. */
const withoutNulls = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as JsonObject;

const object = (
  apiVersion: string,
  kind: string,
  key: string,
  rest: JsonObject,
  metadata: JsonObject = {},
): ClusterObject => {
  const [name, namespace] = key.split("/").reverse();
  return {
    apiVersion,
    kind,
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid: `uid-${kind}-${key}`.toLowerCase().replace("/", "-"),
      resourceVersion: "1",
      creationTimestamp: ago(3_600),
      ...metadata,
    },
    ...rest,
    ...(isObject(rest.spec) ? { spec: withoutNulls(rest.spec) } : {}),
  } as ClusterObject;
};

export const lease = (key: string, holder: string, renewedAgo: number): ClusterObject =>
  object("coordination.k8s.io/v1", "Lease", key, {
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: 15,
      renewTime: leaseTime(renewedAgo),
      acquireTime: leaseTime(9_000),
    },
  });

export const pod = (
  key: string,
  containers: readonly (readonly [name: string, image: string])[],
  status: JsonObject,
): ClusterObject =>
  object("v1", "Pod", key, {
    spec: { nodeName: "node-1", containers: containers.map(([name, image]) => ({ name, image })) },
    status,
  });
const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

export const snapshot = (spec: JsonObject, rest: JsonObject = {}, metadata: JsonObject = {}): ClusterObject =>
  object("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "team/monday", { spec, ...rest }, metadata);
export const ofClaim = { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" };
export const protectedBy = { finalizers: [finalizers.snapshotAsSource, finalizers.snapshotBound] };
export const snapshotUid = "uid-volumesnapshot-team-monday";
export const contentName = `snapcontent-${snapshotUid}`;

export const content = (
  status: JsonObject | undefined,
  metadata: JsonObject = {},
  spec: JsonObject = {},
): ClusterObject =>
  object(
    "snapshot.storage.k8s.io/v1",
    "VolumeSnapshotContent",
    contentName,
    {
      spec: {
        volumeSnapshotRef: { kind: "VolumeSnapshot", namespace: "team", name: "monday", uid: snapshotUid },
        source: { volumeHandle: "vol-1" },
        driver,
        deletionPolicy: "Delete",
        volumeSnapshotClassName: "fast",
        ...spec,
      },
      ...(status === undefined ? {} : { status }),
    },
    { finalizers: [finalizers.contentBound], ...metadata },
  );
export const taken = {
  snapshotHandle: "snap-77",
  creationTime: 1_772_362_800_000_000_000n,
  readyToUse: true,
  restoreSize: 1_073_741_824,
};
export const bound = { boundVolumeSnapshotContentName: contentName, readyToUse: false };
export const ready = { ...bound, readyToUse: true, creationTime: ago(3_500), restoreSize: "1Gi" };

export const claim = (key: string, spec: JsonObject, status: JsonObject, metadata: JsonObject = {}): ClusterObject =>
  object(
    "v1",
    "PersistentVolumeClaim",
    key,
    {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "fast",
        volumeMode: "Filesystem",
        ...spec,
      },
      status,
    },
    metadata,
  );
export const provisionedBy = { annotations: { "volume.kubernetes.io/storage-provisioner": driver } };
export const restoring = {
  dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" },
  dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" },
};
export const pending = { phase: "Pending" };

export const snapshotClass = (
  name: string,
  of: string,
  metadata: JsonObject = {},
  parameters: JsonObject = {},
): ClusterObject =>
  object(
    "snapshot.storage.k8s.io/v1",
    "VolumeSnapshotClass",
    name,
    { driver: of, deletionPolicy: "Delete", parameters },
    metadata,
  );
export const storageClass = (name: string, of: string, mode = "Immediate"): ClusterObject =>
  object("storage.k8s.io/v1", "StorageClass", name, {
    provisioner: of,
    reclaimPolicy: "Delete",
    volumeBindingMode: mode,
  });
export const volume = (spec: JsonObject = {}, metadata: JsonObject = {}): ClusterObject =>
  object(
    "v1",
    "PersistentVolume",
    "pv-1",
    {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver, volumeHandle: "vol-1" },
        claimRef: { namespace: "team", name: "data", uid: "uid-persistentvolumeclaim-team-data" },
        persistentVolumeReclaimPolicy: "Delete",
        storageClassName: "fast",
        volumeMode: "Filesystem",
        ...spec,
      },
      status: { phase: "Bound" },
    },
    metadata,
  );
export const dataClaim = (metadata: JsonObject = {}): ClusterObject =>
  claim(
    "team/data",
    { volumeName: "pv-1" },
    { phase: "Bound", capacity: { storage: "1Gi" } },
    { ...provisionedBy, ...metadata },
  );
export const share = (
  kind: "SharedSecret" | "SharedConfigMap",
  name: string,
  spec: JsonObject,
  conditions: readonly JsonObject[] = [],
): ClusterObject =>
  object(
    "sharedresource.openshift.io/v1alpha1",
    kind,
    name,
    { spec, status: { conditions: [...conditions] } },
    { generation: 1 },
  );
export const grant = (key: string, from: string, snapshotName?: string): ClusterObject =>
  object("gateway.networking.k8s.io/v1beta1", "ReferenceGrant", key, {
    spec: {
      from: [{ group: "", kind: "PersistentVolumeClaim", namespace: from }],
      to: [
        {
          group: "snapshot.storage.k8s.io",
          kind: "VolumeSnapshot",
          ...(snapshotName === undefined ? {} : { name: snapshotName }),
        },
      ],
    },
  });
export const event = (
  about: ClusterObject,
  type: string,
  reason: string,
  message: string,
  secondsAgo = 30,
  component = "csi-snapshotter",
): ClusterObject => {
  const { kind, apiVersion, metadata } = about;
  const { namespace = "default", name, uid } = metadata as { namespace?: string; name: string; uid: string };
  return object("v1", "Event", `${namespace}/${name}.${reason.toLowerCase()}`, {
    involvedObject: {
      apiVersion: apiVersion ?? null,
      kind,
      name,
      uid,
      ...(metadata.namespace === undefined ? {} : { namespace }),
    },
    type,
    reason,
    message,
    count: 3,
    firstTimestamp: ago(600),
    lastTimestamp: ago(secondsAgo),
    source: { component },
  });
};
export const namespace = (name: string, metadata: JsonObject = {}): ClusterObject =>
  object(
    "v1",
    "Namespace",
    name,
    { status: { phase: metadata.deletionTimestamp === undefined ? "Active" : "Terminating" } },
    metadata,
  );
export const kubernetesObject = object;

export const controllerLease = "snapkeep/snapshot-controller-leader";
export const sidecarLease = "drivers/external-snapshotter-leader-disk-example-com";
export const provisionerLease = "drivers/disk-example-com";

/** snapshot-controller and one driver with both sidecars, all leading; a claim with a volume. */
export const healthy: readonly ClusterObject[] = [
  namespace("snapkeep"),
  namespace("drivers"),
  namespace("team"),
  lease(controllerLease, "snapshot-controller-0", 2),
  lease(sidecarLease, "disk-controller-0", 2),
  lease(provisionerLease, "disk-controller-0", 2),
  pod("snapkeep/snapshot-controller-0", [["snapshot-controller", "registry.example.com/snapkeep:0.2.0"]], running),
  pod(
    "drivers/disk-controller-0",
    [
      ["disk", "registry.example.com/disk:1"],
      ["csi-snapshotter", "registry.example.com/snapkeep:0.2.0"],
      ["csi-provisioner", "registry.example.com/snapkeep:0.2.0"],
    ],
    running,
  ),
  object("storage.k8s.io/v1", "CSIDriver", driver, { spec: { attachRequired: false } }),
  object("v1", "Node", "node-1", { status: { conditions: [{ type: "Ready", status: "True" }] } }),
  object("storage.k8s.io/v1", "CSINode", "node-1", {
    spec: { drivers: [{ name: driver, nodeID: "node-1", topologyKeys: [] }] },
  }),
  snapshotClass("fast", driver),
  storageClass("fast", driver),
  volume(),
  dataClaim(),
];

/** The healthy cluster with these objects in place of those with the same kind and name, without those that are gone. */
export function clusterWith(
  changed: readonly ClusterObject[],
  gone: readonly ObjectId[] = [],
): readonly ClusterObject[] {
  const byId = new Map([...healthy, ...changed].map((each) => [idOf(each), each]));
  for (const id of gone) byId.delete(id);
  return [...byId.values()];
}
