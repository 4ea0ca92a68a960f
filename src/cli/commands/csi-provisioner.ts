/** `snapkeep csi-provisioner`: flags of the sidecar it replaces, and the component behind them. */
import { provisionerMetrics } from "../../components/csi-provisioner/metrics.ts";
import { name, start } from "../../components/csi-provisioner/start.ts";
import { socketPathOf } from "../../csi/address.ts";
import { namespaceIn, serviceAccountFolder } from "../../kube/config-pod.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { checkComponent, componentFlags } from "../../runtime/common-flags.ts";
import { runComponent } from "../../runtime/component.ts";
import { bool, decimal, duration, featureGates, integer, type Options, text } from "../../runtime/flag-kinds.ts";

const group = { group: "Volumes" } as const;
const ignored = { group: "Capacity", hidden: true, help: "Accepted for compatibility; has no effect." } as const;

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
  featureGates: featureGates(
    { Topology: true, VolumeAttributesClass: false, CrossNamespaceVolumeDataSource: false },
    { ...group, ignored: ["ReleaseLeaderElectionOnExit", "AllAlpha", "AllBeta"] },
  ),
  cloningProtectionThreads: integer({ ...ignored, default: 1, min: 0 }),
  snapshotOrphanSweepInterval: duration({ ...ignored, default: 300_000, min: 0 }),
  enableCapacity: bool({ ...ignored, default: false }),
  capacityThreads: integer({ ...ignored, default: 1, min: 0 }),
  capacityPollInterval: duration({ ...ignored, default: 60_000, min: 0 }),
  capacityOwnerrefLevel: integer({ ...ignored, default: 1 }),
  capacityForImmediateBinding: bool({ ...ignored, default: false }),
  kubeApiCapacityQps: decimal({ ...ignored, default: 1 }),
  kubeApiCapacityBurst: integer({ ...ignored, default: 5 }),
  master: text({
    group: "Cluster",
    hidden: true,
    default: "",
    help: "Accepted for compatibility, but not supported: the address of the API server is read from the kubeconfig.",
  }),
  nodeDeployment: bool({
    group: "Node deployment",
    hidden: true,
    default: false,
    help: "Accepted for compatibility, but not supported: the command refuses to start with it.",
  }),
  nodeDeploymentImmediateBinding: bool({ ...ignored, default: true }),
  nodeDeploymentBaseDelay: duration({ ...ignored, default: 20_000, min: 0 }),
  nodeDeploymentMaxDelay: duration({ ...ignored, default: 60_000, min: 0 }),
  enablePprof: bool({ ...ignored, default: false }),
} as const;

export const command = defineCommand({
  flags,
  metrics: provisionerMetrics,
  examples: [
    {
      does: "Run in the pod of the CSI driver",
      line: "snapkeep csi-provisioner --csi-address=/csi/csi.sock --leader-election=true",
    },
  ],
  check: (options) =>
    checkComponent(options) ??
    checkName(options) ??
    checkUnsupported(options) ??
    complaintOf(() => socketPathOf(options.csiAddress)),
  run: (input) =>
    runComponent(input, {
      name,
      kinds: ["PersistentVolumeClaim", "PersistentVolume", "StorageClass"],
      waitMsMax: 30_000,
      start: async (context) => {
        const { options } = input;
        if (options.enableCapacity)
          context.log.warn("storage capacity is not published: --enable-capacity does nothing");
        return start(context, {
          ...options,
          defaultFsType: options.defaultFstype,
          topology: options.featureGates.Topology,
          usesAttributesClasses: options.featureGates.VolumeAttributesClass,
          namespace: options.leaderElectionNamespace || (await namespaceIn(serviceAccountFolder)),
        });
      },
    }),
});

/** What would be ignored silently otherwise. */
const checkUnsupported = ({ nodeDeployment, master }: Options<typeof flags>): string | undefined => {
  if (master !== "") return "--master is not supported: write the address of the API server into a kubeconfig";
  return nodeDeployment
    ? "--node-deployment is not supported: run one csi-provisioner for the cluster, with --leader-election"
    : undefined;
};

const checkName = ({ volumeNameUuidLength }: Options<typeof flags>): string | undefined =>
  volumeNameUuidLength === 0
    ? "--volume-name-uuid-length=0 would give all volumes one name, and the driver would answer each request with the first of them; leave it out, or give 32"
    : undefined;
