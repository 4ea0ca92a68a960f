/** `snapkeep csi-snapshotter`: flags of the sidecar it replaces, and the component behind them. */
import { sidecarMetrics } from "../../components/csi-snapshotter/metrics.ts";
import { name, start } from "../../components/csi-snapshotter/start.ts";
import { socketPathOf } from "../../csi/address.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { checkComponent, checkNodeDeployment, componentFlags } from "../../runtime/common-flags.ts";
import { type ComponentSpec, runComponent } from "../../runtime/component.ts";
import { bool, duration, integer, type Options, text } from "../../runtime/flag-kinds.ts";
import { logIdleGates, upstreamGates } from "./upstream-gates.ts";

const group = { group: "Snapshots" } as const;

const flags = {
  ...componentFlags,
  workerThreads: integer({
    ...componentFlags.workerThreads,
    min: 1,
    max: 10_000,
    help: "Number of concurrent calls to the driver. A hanging call gives up its slot; up to three times as many calls may hang.",
  }),
  csiAddress: text({ ...group, default: "/run/csi/socket", required: true, help: "Unix socket of the CSI driver." }),
  timeout: duration({ ...group, default: 60_000, min: 1, help: "Timeout of each call to the driver." }),
  snapshotNamePrefix: text({
    ...group,
    default: "snapshot",
    required: true,
    help: "Prefix of snapshot names on the storage system.",
  }),
  snapshotNameUuidLength: integer({
    ...group,
    default: -1,
    min: -1,
    help: "Number of characters of the VolumeSnapshot's uid, without dashes, in the snapshot name; -1 uses the whole uid with dashes.",
  }),
  groupsnapshotNamePrefix: text({
    ...group,
    default: "groupsnapshot",
    help: "Prefix of group snapshot names on the storage system.",
  }),
  groupsnapshotNameUuidLength: integer({
    ...group,
    default: -1,
    min: -1,
    help: "Number of characters of the uid in the group snapshot name; -1 uses the whole uid with dashes.",
  }),
  extraCreateMetadata: bool({
    ...group,
    default: false,
    help: "Pass the names of the VolumeSnapshot and its content to the driver as CreateSnapshot parameters.",
  }),
  nodeDeployment: bool({
    ...group,
    default: false,
    help: "Serve only contents that are labelled with the node in NODE_NAME.",
  }),
  nodeName: text({
    ...group,
    default: "",
    environment: "NODE_NAME",
    hidden: true,
    help: "Name of the node that this process runs on.",
  }),
  featureGates: upstreamGates(group),
} as const;

type SnapshotterOptions = Options<typeof flags>;

const check = (options: SnapshotterOptions): string | undefined =>
  checkComponent(options) ??
  checkNodeDeployment(options, "contents") ??
  checkName(options) ??
  complaintOf(() => socketPathOf(options.csiAddress));

const specOf = (options: SnapshotterOptions): ComponentSpec => ({
  name,
  kinds: ["VolumeSnapshotContent", "VolumeSnapshotClass"],
  waitMsMax: 30_000,
  start: (context) => {
    logIdleGates(options.featureGates, context.log);
    // On every node there is a sidecar, and a group has no node: each would take it.
    const takesGroups = options.featureGates.CSIVolumeGroupSnapshot && !options.nodeDeployment;
    return start(context, { ...options, groups: takesGroups ? options : undefined });
  },
});

/** The parts of the command, for one process with several controllers. */
export const snapshotter = { flags, metrics: sidecarMetrics, check, specOf };

export const command = defineCommand({
  ...snapshotter,
  examples: [
    {
      does: "Run in the pod of the CSI driver",
      line: "snapkeep csi-snapshotter --csi-address=/csi/csi.sock --leader-election=true",
    },
    {
      does: "Run on every node, for volumes that only one node reaches",
      line: "NODE_NAME=worker-1 snapkeep csi-snapshotter --node-deployment",
    },
  ],
  run: (input) => runComponent(input, specOf(input.options)),
});

const checkName = ({ snapshotNameUuidLength }: SnapshotterOptions): string | undefined =>
  snapshotNameUuidLength === 0
    ? "--snapshot-name-uuid-length=0 would give all snapshots one name, and the driver would answer each request with the first of them; leave it out, or give 32"
    : undefined;
