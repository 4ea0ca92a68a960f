/** `snapkeep csi-provisioner`: flags of the sidecar it replaces, and the component behind them. */
import { capacityMetrics } from "../../components/csi-provisioner/capacity/metrics.ts";
import type { CapacityOptions } from "../../components/csi-provisioner/capacity/options.ts";
import { provisionerMetrics } from "../../components/csi-provisioner/metrics.ts";
import { name, start } from "../../components/csi-provisioner/start.ts";
import { socketPathOf } from "../../csi/address.ts";
import { namespaceIn, serviceAccountFolder } from "../../kube/config-pod.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { checkComponent, checkNodeDeployment, componentFlags } from "../../runtime/common-flags.ts";
import { type ComponentSpec, runComponent } from "../../runtime/component.ts";
import { serverAt } from "../../runtime/connect.ts";
import { bool, decimal, duration, featureGates, integer, type Options, text } from "../../runtime/flag-kinds.ts";
import { crossNamespaceAliases } from "./upstream-gates.ts";

const group = { group: "Volumes" } as const;
const onNodes = { group: "Node deployment" } as const;
const ofCapacity = { group: "Storage capacity" } as const;
const ignored = { group: "Ignored", hidden: true, help: "Accepted for compatibility; has no effect." } as const;

const flags = {
  ...componentFlags,
  workerThreads: integer({
    ...componentFlags.workerThreads,
    default: 100,
    help: "Number of concurrent calls to the driver. A hanging call gives up its slot; up to three times as many calls may hang.",
  }),
  csiAddress: text({ ...group, default: "/run/csi/socket", required: true, help: "Unix socket of the CSI driver." }),
  timeout: duration({ ...group, default: 10_000, min: 1, help: "Timeout of each call to the driver." }),
  volumeNamePrefix: text({
    ...group,
    default: "pvc",
    required: true,
    help: "Prefix of the names of volumes and PersistentVolumes.",
  }),
  volumeNameUuidLength: integer({
    ...group,
    default: -1,
    min: -1,
    help: "Number of characters of the claim's uid, without dashes, in the volume name; -1 uses the whole uid with dashes.",
  }),
  defaultFstype: text({
    ...group,
    default: "",
    example: "ext4",
    help: "File system of volumes whose StorageClass names none.",
  }),
  extraCreateMetadata: bool({
    ...group,
    default: false,
    help: "Pass the names of the claim and of the PersistentVolume to the driver as CreateVolume parameters.",
  }),
  preventVolumeModeConversion: bool({
    ...group,
    default: true,
    help: "Refuse restores with another volume mode than that of the snapshot's source, unless its content allows it.",
  }),
  controllerPublishReadonly: bool({
    ...group,
    default: false,
    help: "Mark a PersistentVolume as read-only if ReadOnlyMany is its only access mode.",
  }),
  strictTopology: bool({
    ...group,
    default: false,
    help: "With WaitForFirstConsumer, ask for the topology of the selected node only.",
  }),
  immediateTopology: bool({
    ...group,
    default: true,
    help: "With immediate binding, ask for the topologies of all nodes that run the driver.",
  }),
  crossNamespaceSnapshot: bool({
    ...group,
    default: false,
    help: "Follow VolumeSnapshotLinks: a claim names a link in its own namespace, and the link a snapshot, by a ReferenceGrant also one of another namespace. Works on unmodified clusters, without a feature gate.",
  }),
  featureGates: featureGates(
    { Topology: true, VolumeAttributesClass: false, CrossNamespaceVolumeDataSource: false },
    {
      ...group,
      help: "Feature gates to enable or disable. CrossNamespaceVolumeDataSource, also written CrossNamespaceSourceProvisioning, serves claims whose source is named with its namespace, by a ReferenceGrant.",
      aliases: crossNamespaceAliases,
      ignored: ["ReleaseLeaderElectionOnExit", "AllAlpha", "AllBeta"],
    },
  ),
  cloningProtectionThreads: integer({ ...ignored, default: 1, min: 0 }),
  snapshotOrphanSweepInterval: duration({ ...ignored, default: 300_000, min: 0 }),
  enableCapacity: bool({
    ...ofCapacity,
    default: false,
    help: "Publish what GetCapacity answers as CSIStorageCapacity objects, which kube-scheduler reads if storageCapacity of the CSIDriver is true.",
  }),
  capacityThreads: integer({
    ...ofCapacity,
    default: 1,
    min: 0,
    help: "Number of CSIStorageCapacity objects worked on at once; 0 counts as 1.",
  }),
  capacityPollInterval: duration({
    ...ofCapacity,
    default: 60_000,
    min: 0,
    help: "How often the driver is asked for the capacity of each topology segment and StorageClass: at most once a second.",
  }),
  capacityOwnerrefLevel: integer({
    ...ofCapacity,
    default: 1,
    max: 10,
    help: "Owner of CSIStorageCapacity objects, which go with it: 0 for the pod, 1 for the object that controls it (a StatefulSet or DaemonSet), 2 for the one above (a Deployment), -1 for none.",
  }),
  capacityForImmediateBinding: bool({
    ...ofCapacity,
    default: false,
    help: "Also publish the capacity of StorageClasses with immediate binding.",
  }),
  kubeApiCapacityQps: decimal({
    ...ofCapacity,
    default: 1,
    help: "Requests per second about CSIStorageCapacity objects, beside all others; 0 or less: unlimited.",
  }),
  kubeApiCapacityBurst: integer({
    ...ofCapacity,
    default: 5,
    help: "Number of these requests that may be sent at once.",
  }),
  namespace: text({
    ...ofCapacity,
    default: "",
    environment: "NAMESPACE",
    hidden: true,
    help: "Namespace of the pod and of CSIStorageCapacity objects.",
  }),
  podName: text({
    ...ofCapacity,
    default: "",
    environment: "POD_NAME",
    hidden: true,
    help: "Name of the pod, whose owner owns CSIStorageCapacity objects.",
  }),
  master: text({
    group: "Kubernetes API",
    default: "",
    example: "https://10.0.0.1:6443",
    help: "Address of the API server, instead of the address in the kubeconfig.",
  }),
  nodeDeployment: bool({
    ...onNodes,
    default: false,
    help: "Serve only claims whose selected node is the node in NODE_NAME, and volumes that this node reaches.",
  }),
  nodeName: text({
    ...onNodes,
    default: "",
    environment: "NODE_NAME",
    hidden: true,
    help: "Name of the node that this process runs on.",
  }),
  nodeDeploymentImmediateBinding: bool({
    ...onNodes,
    default: true,
    help: "With --node-deployment, also take claims of classes with immediate binding, by selecting the own node.",
  }),
  nodeDeploymentBaseDelay: duration({
    ...onNodes,
    default: 20_000,
    min: 1,
    help: "Delay before such a claim is taken, so that not all nodes try at once; doubles with each lost attempt, with jitter.",
  }),
  nodeDeploymentMaxDelay: duration({ ...onNodes, default: 60_000, min: 1, help: "Maximum of this delay." }),
  enablePprof: bool({ ...ignored, default: false }),
} as const;

type ProvisionerOptions = Options<typeof flags>;

const check = (options: ProvisionerOptions): string | undefined =>
  checkComponent(options) ??
  checkName(options) ??
  checkNodeDeployment(options, "claims") ??
  checkMaster(options) ??
  checkCapacity(options) ??
  complaintOf(() => socketPathOf(options.csiAddress));

const specOf = (options: ProvisionerOptions): ComponentSpec => ({
  name,
  kinds: ["PersistentVolumeClaim", "PersistentVolume", "StorageClass"],
  waitMsMax: 30_000,
  start: async (context) =>
    start(context, {
      ...options,
      defaultFsType: options.defaultFstype,
      topology: options.featureGates.Topology,
      crossNamespace: options.featureGates.CrossNamespaceVolumeDataSource,
      usesAttributesClasses: options.featureGates.VolumeAttributesClass,
      namespace: options.leaderElectionNamespace || (await namespaceIn(serviceAccountFolder)),
      capacity: capacityOf(options),
    }),
});

/** The parts of the command, for one process with several controllers. */
export const provisioner = { flags, metrics: { ...provisionerMetrics, ...capacityMetrics }, check, specOf };

export const command = defineCommand({
  ...provisioner,
  examples: [
    {
      does: "Run in the pod of the CSI driver",
      line: "snapkeep csi-provisioner --csi-address=/csi/csi.sock --leader-election=true",
    },
    {
      does: "Run on every node, for volumes that only one node reaches",
      line: "NODE_NAME=worker-1 snapkeep csi-provisioner --node-deployment",
    },
  ],
  run: (input) => runComponent(input, specOf(input.options)),
});

const capacityOf = (options: ProvisionerOptions): CapacityOptions | undefined =>
  options.enableCapacity
    ? {
        namespace: options.namespace,
        podName: options.podName,
        ownerLevel: options.capacityOwnerrefLevel,
        pollMs: options.capacityPollInterval,
        forImmediateBinding: options.capacityForImmediateBinding,
        threads: options.capacityThreads,
        rate: { kubeApiQps: options.kubeApiCapacityQps, kubeApiBurst: options.kubeApiCapacityBurst },
      }
    : undefined;

function checkCapacity(options: ProvisionerOptions): string | undefined {
  if (!options.enableCapacity) return undefined;
  if (options.namespace === "")
    return "--enable-capacity needs the pod's namespace in the environment variable NAMESPACE; set it from metadata.namespace";
  return options.capacityOwnerrefLevel >= 0 && options.podName === ""
    ? "--enable-capacity needs the pod's name in the environment variable POD_NAME, whose owner owns the objects; set it from metadata.name, or set --capacity-ownerref-level=-1 for no owner"
    : undefined;
}

const checkMaster = ({ master }: ProvisionerOptions): string | undefined =>
  master === "" ? undefined : complaintOf(() => serverAt(master));

const checkName = ({ volumeNameUuidLength }: ProvisionerOptions): string | undefined =>
  volumeNameUuidLength === 0
    ? "--volume-name-uuid-length=0 would give all volumes one name, and the driver would answer each request with the first of them; leave it out, or give 32"
    : undefined;
