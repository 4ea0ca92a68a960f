/** `snapkeep csi-snapshotter`: flags of the sidecar it replaces, and the component behind them. */
import { labels } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import { createCsiSnapshotter } from "../../components/csi-snapshotter/index.ts";
import { leaseNameFor } from "../../components/csi-snapshotter/lease-name.ts";
import { sidecarMetrics } from "../../components/csi-snapshotter/metrics.ts";
import { socketPathOf } from "../../csi/address.ts";
import { createCsiClient } from "../../csi/client.ts";
import { createCurrentCapabilities } from "../../csi/current-capabilities.ts";
import { unsyncedIn } from "../../kube/stores.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { checkComponent, componentFlags } from "../../runtime/common-flags.ts";
import { type Component, type ComponentContext, runComponent } from "../../runtime/component.ts";
import { bool, duration, integer, type Options, text } from "../../runtime/flag-kinds.ts";
import { logIdleGates, upstreamGates } from "./upstream-gates.ts";

const name = "csi-snapshotter";
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

export const command = defineCommand({
  flags,
  metrics: sidecarMetrics,
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
  check: (options) =>
    checkComponent(options) ??
    checkNode(options) ??
    checkName(options) ??
    complaintOf(() => socketPathOf(options.csiAddress)),
  run: (input) =>
    runComponent(input, {
      name,
      kinds: ["VolumeSnapshotContent", "VolumeSnapshotClass"],
      waitMsMax: 30_000,
      start: (context) => start(context, input.options),
    }),
});

const checkNode = ({ nodeDeployment, nodeName, leaderElection }: Options<typeof flags>): string | undefined => {
  if (!nodeDeployment) return undefined;
  if (nodeName === "")
    return "--node-deployment needs the node's name in the environment variable NODE_NAME; set it from spec.nodeName";
  return leaderElection
    ? "--node-deployment and --leader-election exclude each other: every node serves its own contents; drop one"
    : undefined;
};

const checkName = ({ snapshotNameUuidLength }: Options<typeof flags>): string | undefined =>
  snapshotNameUuidLength === 0
    ? "--snapshot-name-uuid-length=0 would give all snapshots one name, and the driver would answer each request with the first of them; leave it out, or give 32"
    : undefined;

const readinessPoll = { startMs: 1_000, maxMs: 30_000 };

async function start(context: ComponentContext, options: Options<typeof flags>): Promise<Component> {
  const { world, log, metrics, signal } = context;
  const { calls, errors, secretMismatches } = metrics.instruments(sidecarMetrics);
  let driver = "unknown-driver";
  let connectionLost = (): void => undefined;
  const csi = createCsiClient({
    address: options.csiAddress,
    world,
    log,
    timeoutMs: options.timeout,
    refusal: context.refusal,
    onConnectionLoss: () => connectionLost(),
    measure: ({ method, status, tookMs }) =>
      calls.observe({ driver_name: driver, method_name: method, grpc_status_code: status }, tookMs / 1000),
  });
  await csi.probeUntilReady(signal);
  driver = await csi.pluginName(signal);
  const first = await csi.controllerCapabilities(signal);
  if (!first.has("CREATE_DELETE_SNAPSHOT"))
    throw new Fault(
      "FailedPrecondition",
      `driver ${driver} at ${options.csiAddress} does not take snapshots (no CREATE_DELETE_SNAPSHOT): do not run a csi-snapshotter beside it`,
    );
  log.info("driver is ready", { driver });
  logIdleGates(options.featureGates, log);
  const onRead = (): void => sidecar.factsChanged();
  const capabilities = createCurrentCapabilities({ csi, first, world, log, signal, onRead });
  connectionLost = capabilities.connectionLost;
  const sidecar = createCsiSnapshotter({
    ...context,
    record: context.recordAs(`${name} ${driver}`),
    csi,
    facts: () => ({ driver, canListSnapshots: capabilities.current()?.has("LIST_SNAPSHOTS") }),
    options,
    callsAtOnce: options.workerThreads,
    failed: (operation) => errors.add({ driver_name: driver, operation_name: operation }),
    count: () => secretMismatches.add({ driver_name: driver }),
    poll: readinessPoll,
    labelSelector: options.nodeDeployment ? `${labels.managedBy}=${options.nodeName}` : undefined,
  });
  return {
    leaseName: leaseNameFor(driver),
    watch: sidecar.watch,
    run: sidecar.run,
    ready: () => unsyncedIn(sidecar.stores),
  };
}
