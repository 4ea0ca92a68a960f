/** csi-provisioner in the pod of a CSI driver. */
import { leaseNameFrom } from "../names.ts";
import type { Right, SidecarRow } from "./component.ts";
import { eventRight, leaseOfEachNode, leaseRights } from "./rights.ts";

const port = 8_082;

const clusterRules: readonly Right[] = [
  {
    apiGroups: [""],
    resources: ["persistentvolumeclaims"],
    verbs: ["get", "list", "watch", "update"],
    why: "It creates volumes for claims, and protects a claim while it is cloned.",
  },
  {
    apiGroups: [""],
    resources: ["persistentvolumes"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
    why: "It stores a volume that was created, and deletes it after its claim.",
  },
  {
    apiGroups: ["storage.k8s.io"],
    resources: ["storageclasses"],
    verbs: ["list", "watch"],
    why: "A class names the driver and has the parameters of CreateVolume.",
  },
  {
    apiGroups: ["snapshot.storage.k8s.io"],
    resources: ["volumesnapshots"],
    verbs: ["get", "list", "watch", "update"],
    why: "A restore starts when its snapshot is ready, and protects the snapshot meanwhile.",
  },
  {
    apiGroups: ["snapshot.storage.k8s.io"],
    resources: ["volumesnapshotcontents"],
    verbs: ["get", "list", "watch"],
    why: "The content has the handle that a restore is made from; with list and watch, a restore reads nothing.",
  },
  eventRight,
];

/** Only drivers that announce topologies, or whose capacity is published, are asked for them. */
const topologyRules: readonly Right[] = [
  {
    apiGroups: [""],
    resources: ["nodes"],
    verbs: ["list", "watch"],
    why: "Nodes have the labels of the driver's topologies.",
  },
  {
    apiGroups: ["storage.k8s.io"],
    resources: ["csinodes"],
    verbs: ["list", "watch"],
    why: "CSINodes name the topologies that the driver has on each node.",
  },
];

const attachmentRules: readonly Right[] = [
  {
    apiGroups: ["storage.k8s.io"],
    resources: ["volumeattachments"],
    verbs: ["list", "watch"],
    why: "A volume that is attached to a node is not deleted.",
  },
];

/** Only with --enable-capacity. */
const capacityRules: readonly Right[] = [
  {
    apiGroups: ["storage.k8s.io"],
    resources: ["csistoragecapacities"],
    verbs: ["get", "list", "watch", "create", "update", "delete"],
    why: "With --enable-capacity it publishes how much room each topology has, for kube-scheduler.",
  },
  {
    apiGroups: [""],
    resources: ["pods"],
    verbs: ["get"],
    why: "With --enable-capacity the object that controls its pod owns what is published.",
  },
  {
    apiGroups: ["apps"],
    resources: ["replicasets"],
    verbs: ["get"],
    why: "With --capacity-ownerref-level=2 that is the Deployment above the ReplicaSet.",
  },
];

const callsWhy =
  "Of several replicas, the holder of the lease works; calls of CreateVolume are stored in a second one.";

const nodeWhy =
  "With --node-deployment the provisioner of each node stores its calls in a Lease of its own, whose name ends in the node's.";

export const csiProvisionerRow: SidecarRow = {
  name: "csi-provisioner",
  replaces: "external-provisioner",
  rights: (driver, { topology, attachments, capacity, nodeDeployment = false }) => {
    const leaseName = leaseNameFrom(driver);
    return {
      clusterRules: [
        ...clusterRules,
        ...(topology || capacity ? topologyRules : []),
        ...(attachments ? attachmentRules : []),
      ],
      namespaceRules: [
        ...leaseRights([leaseName, `${leaseName}-create-volume-calls`.toLowerCase()], callsWhy),
        ...(nodeDeployment ? [leaseOfEachNode(nodeWhy)] : []),
        ...(capacity ? capacityRules : []),
      ],
    };
  },
  container: (_driver, { path, mount }) => ({
    name: "csi-provisioner",
    args: () => ["csi-provisioner", `--csi-address=${path}`, "--leader-election=true", `--http-endpoint=:${port}`],
    ports: [{ name: "provisioner", containerPort: port }],
    statusPort: "provisioner",
    volumeMounts: () => [mount],
    memory: ["160Mi", "512Mi"],
  }),
};
