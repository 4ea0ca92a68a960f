/** Volumes, classes, drivers, attachments, capacities. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, gone, inPhase, patch, remove, replace, type Script, script } from "../script.ts";

const volumes = "/api/v1/persistentvolumes";
const claims = "/api/v1/namespaces/$NS/persistentvolumeclaims";
const group = "/apis/storage.k8s.io/v1";
const csi = { driver: "hostpath.csi.k8s.io", volumeHandle: "h" };
const secret = { name: "s", namespace: "n" };

const aVolume = (spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "$ID", ...metadata },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
    csi,
    storageClassName: "class-$ID",
    ...spec,
  },
});
const expression = (given: JsonObject): JsonObject => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [given] }] } },
});

const creations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "no source": { csi: null },
  "two sources": { hostPath: { path: "/x" } },
  "no capacity": { capacity: null },
  "a capacity of something else": { capacity: { cpu: "1" } },
  "a negative capacity": { capacity: { storage: "-1" } },
  "no access mode": { accessModes: [] },
  "an unknown access mode": { accessModes: ["Once"] },
  "an unknown reclaim policy": { persistentVolumeReclaimPolicy: "Burn" },
  "the recycling policy": { persistentVolumeReclaimPolicy: "Recycle" },
  "an unknown mode": { volumeMode: "Tape" },
  "no driver": { csi: { volumeHandle: "h" } },
  "no handle": { csi: { driver: "d.x" } },
  "a bad driver name": { csi: { ...csi, driver: "not a driver" } },
  "a long driver name": { csi: { ...csi, driver: "d".repeat(64) } },
  "half a secret": { csi: { ...csi, controllerPublishSecretRef: { name: "s" } } },
  "a bad secret": { csi: { ...csi, nodePublishSecretRef: { name: "S S", namespace: "N N" } } },
  "an unnamed staging secret": { csi: { ...csi, nodeStageSecretRef: {} } },
  "all secrets": { csi: { ...csi, nodeExpandSecretRef: secret, controllerExpandSecretRef: secret } },
  "an impossible class": { storageClassName: "a b" },
  "an affinity for nothing": { nodeAffinity: {} },
  "an affinity without terms": { nodeAffinity: { required: { nodeSelectorTerms: [] } } },
  "an affinity without values": expression({ key: "zone", operator: "In" }),
  "an affinity by order": expression({ key: "zone", operator: "Gt", values: ["1", "2"] }),
  "an affinity by an unknown operator": expression({ key: "a b", operator: "Like", values: ["x y"] }),
  "a local path without a node": { csi: null, local: { path: "/mnt/../x" } },
  "a host path of nothing": { csi: null, hostPath: { path: "" } },
  "a host path": { csi: null, hostPath: { path: "/data" } },
  "a network path": { csi: null, nfs: { server: "", path: "relative" } },
};

const changes: Readonly<Record<string, JsonObject>> = {
  "its handle": { csi: { ...csi, volumeHandle: "other" } },
  "its driver's secret": { csi: { ...csi, controllerExpandSecretRef: secret } },
  "its mode": { volumeMode: "Block" },
  "its capacity and policy": { capacity: { storage: "2Gi" }, persistentVolumeReclaimPolicy: "Delete" },
  "its class": { storageClassName: "other" },
  "its affinity from nothing": expression({ key: "zone", operator: "In", values: ["a"] }),
};

const classes = `${group}/storageclasses`;
const aClass = (more: JsonObject = {}): JsonObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "$ID" },
  provisioner: "disk.example.com",
  ...more,
});
const drivers = `${group}/csidrivers`;
const aDriver = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: "$ID" },
  spec,
});
const nodes = `${group}/csinodes`;
const aNode = (...list: readonly JsonObject[]): JsonObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: { name: "$ID" },
  spec: { drivers: [...list] },
});
const attachments = `${group}/volumeattachments`;
const anAttachment = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttachment",
  metadata: { name: "$ID" },
  spec: { attacher: "d.x", nodeName: "n1", source: { persistentVolumeName: "pv" }, ...spec },
  status: { attached: true },
});
const capacities = `${group}/namespaces/$NS/csistoragecapacities`;
const aCapacity = (more: JsonObject = {}): JsonObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIStorageCapacity",
  metadata: { name: "c" },
  storageClassName: "fast",
  capacity: "1024Mi",
  ...more,
});

const classCreations: Readonly<Record<string, JsonObject>> = {
  "nothing but a provisioner": {},
  "no provisioner": { provisioner: "" },
  "a bad provisioner": { provisioner: "a b/c d" },
  "an unknown policy": { reclaimPolicy: "Recycle" },
  "an unknown binding mode": { volumeBindingMode: "Later" },
  "an empty parameter": { parameters: { "": "x" } },
  "parameters, options and topologies": {
    parameters: { a: "b" },
    mountOptions: ["ro"],
    allowVolumeExpansion: true,
    allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a", "b"] }] }],
  },
  "a topology without values": { allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: [] }] }] },
  "a topology said twice": { allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a", "a"] }] }] },
};
const classChanges: Readonly<Record<string, JsonObject>> = {
  "its provisioner": { provisioner: "other.example.com" },
  "its parameters": { parameters: { a: "b" } },
  "its policy": { reclaimPolicy: "Retain" },
  "its binding mode": { volumeBindingMode: "WaitForFirstConsumer" },
  "whether it grows": { allowVolumeExpansion: true },
};
const driverCreations: Readonly<Record<string, JsonObject>> = {
  nothing: {},
  everything: {
    attachRequired: false,
    podInfoOnMount: true,
    volumeLifecycleModes: ["Persistent", "Ephemeral"],
    storageCapacity: true,
    fsGroupPolicy: "File",
    tokenRequests: [{ audience: "a", expirationSeconds: 3600 }],
    requiresRepublish: true,
  },
  "an unknown life": { volumeLifecycleModes: ["Eternal"] },
  "an unknown policy": { fsGroupPolicy: "Sometimes" },
  "the same audience twice": { tokenRequests: [{ audience: "a" }, { audience: "a" }] },
  "tokens for a second": { tokenRequests: [{ audience: "a", expirationSeconds: 1 }] },
};
const versionOf = { metadata: { name: "$ID", resourceVersion: "1" } };

const aClaim = (storage: string, spec: JsonObject): JsonObject => ({
  metadata: { name: "c" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...spec },
});

export const storageScripts: readonly Script[] = [
  ...Object.entries(creations).map(([name, spec]) =>
    script(`a volume is created with ${name}`, create(volumes, aVolume(spec))),
  ),
  ...Object.entries(changes).map(([name, spec]) =>
    script(
      `a volume changes ${name}`,
      create(volumes, aVolume()),
      inPhase(`${volumes}/$ID`, "Available"),
      patch("merge", `${volumes}/$ID`, { spec }),
    ),
  ),
  script(
    "a volume stands ready, is taken, and is released after its claim",
    create(volumes, aVolume()),
    inPhase(`${volumes}/$ID`, "Available"),
    create(claims, aClaim("1Mi", { storageClassName: "class-$ID" })),
    inPhase(`${claims}/c`, "Bound"),
    inPhase(`${volumes}/$ID`, "Bound"),
    remove(`${claims}/c`),
    gone(`${claims}/c`),
    inPhase(`${volumes}/$ID`, "Released"),
    remove(`${volumes}/$ID`),
    gone(`${volumes}/$ID`),
  ),
  script(
    "a claim names its volume, which is too small",
    create(volumes, aVolume()),
    inPhase(`${volumes}/$ID`, "Available"),
    create(claims, aClaim("9Gi", { storageClassName: "class-$ID", volumeName: "$ID" })),
    get("/api/v1/namespaces/$NS/events?fieldSelector=reason%3DVolumeMismatch", {
      until: ({ items }) => Array.isArray(items) && items.length > 0,
    }),
    get(`${claims}/c`),
  ),
  script(
    "a claim waits for its provisioner, by name",
    create(classes, aClass()),
    create(claims, aClaim("1Gi", { storageClassName: "$ID" })),
    get(`${claims}/c`, {
      until: ({ metadata }) => (metadata as JsonObject).annotations !== undefined,
    }),
  ),
  script(
    "a claim waits for its first consumer",
    create(classes, aClass({ volumeBindingMode: "WaitForFirstConsumer" })),
    create(claims, aClaim("1Gi", { storageClassName: "$ID" })),
    get("/api/v1/namespaces/$NS/events?fieldSelector=reason%3DWaitForFirstConsumer", {
      until: ({ items }) => Array.isArray(items) && items.length > 0,
    }),
    get(`${claims}/c`),
    patch("merge", `${claims}/c`, { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n1" } } }),
    get(`${claims}/c`, {
      until: ({ metadata }) =>
        ((metadata as JsonObject).annotations as JsonObject)["volume.kubernetes.io/storage-provisioner"] !== undefined,
    }),
  ),
  script(
    "a claim names a volume that belongs to another",
    create(volumes, aVolume({ claimRef: { namespace: "elsewhere", name: "other", uid: "x" } })),
    inPhase(`${volumes}/$ID`, "Released"),
    create(claims, aClaim("1Mi", { storageClassName: "class-$ID", volumeName: "$ID" })),
    get(`${claims}/c`),
  ),
  ...Object.entries(classCreations).map(([name, more]) =>
    script(`a storage class is created with ${name}`, create(classes, aClass(more))),
  ),
  ...Object.entries(classChanges).map(([name, more]) =>
    script(`a storage class changes ${name}`, create(classes, aClass()), replace(`${classes}/$ID`, aClass(more))),
  ),
  ...Object.entries(driverCreations).map(([name, spec]) =>
    script(`a driver says ${name} about itself`, create(drivers, aDriver(spec))),
  ),
  script(
    "a driver changes whether it attaches",
    create(drivers, aDriver()),
    patch("merge", `${drivers}/$ID`, { spec: { attachRequired: false, volumeLifecycleModes: ["Ephemeral"] } }),
  ),
  script("a driver is replaced without a version", create(drivers, aDriver()), replace(`${drivers}/$ID`, aDriver())),
  script(
    "a driver is replaced with an old version",
    create(drivers, aDriver()),
    replace(`${drivers}/$ID`, { ...aDriver(), ...versionOf }),
  ),
  script("a node has drivers", create(nodes, aNode({ name: "d.x", nodeID: "n", topologyKeys: ["a/b"] }))),
  script(
    "a node has the same driver twice, and one without an id",
    create(nodes, aNode({ name: "d.x", nodeID: "n" }, { name: "d.x", nodeID: "" })),
  ),
  script(
    "a node's driver has bad topology keys and a negative count",
    create(nodes, aNode({ name: "d.x", nodeID: "n", topologyKeys: ["a b", "k", "k"], allocatable: { count: -1 } })),
  ),
  script(
    "a node's driver changes its id",
    create(nodes, aNode({ name: "d.x", nodeID: "n" })),
    patch("json", `${nodes}/$ID`, [{ op: "replace", path: "/spec/drivers/0/nodeID", value: "m" }]),
  ),
  script("an attachment is created", create(attachments, anAttachment())),
  script("an attachment of nothing", create(attachments, anAttachment({ source: {} }))),
  script(
    "an attachment of an unnamed volume to an impossible node",
    create(attachments, anAttachment({ source: { persistentVolumeName: "" }, nodeName: "N N" })),
  ),
  script(
    "an attachment changes its node",
    create(attachments, anAttachment()),
    patch("merge", `${attachments}/$ID`, { spec: { nodeName: "n2" } }),
  ),
  script(
    "an attachment reports",
    create(attachments, anAttachment()),
    patch("merge", `${attachments}/$ID/status`, { status: { attached: true, attachmentMetadata: { a: "b" } } }),
  ),
  script("a capacity is created", create(capacities, aCapacity())),
  script("a capacity below nothing", create(capacities, aCapacity({ capacity: "-1" }))),
  script(
    "a capacity of an impossible class and topology",
    create(
      capacities,
      aCapacity({ storageClassName: "A", nodeTopology: { matchExpressions: [{ key: "x", operator: "In" }] } }),
    ),
  ),
  script(
    "a capacity changes its class",
    create(capacities, aCapacity()),
    patch("merge", `${capacities}/c`, { storageClassName: "slow" }),
  ),
  script(
    "a capacity changes its amount",
    create(capacities, aCapacity()),
    patch("merge", `${capacities}/c`, { capacity: "5000M", maximumVolumeSize: "1" }),
  ),
];
