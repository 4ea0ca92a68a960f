/** `snapkeep shared-resource`: the driver of SharedSecret and SharedConfigMap volumes on a node, or their controller. */

import { besideVolumesMiB, mebibyte, shareMemory } from "../../api/share-memory.ts";
import { Fault } from "../../base/fault.ts";
import type { Log } from "../../base/log.ts";
import { binaryQuantity, wholeUnits } from "../../base/quantity.ts";
import { parseConfig, readConfigFile, whenConfigChanges } from "../../components/shared-resource/config.ts";
import { shareControllerMetrics } from "../../components/shared-resource/controller/metrics.ts";
import { startController } from "../../components/shared-resource/controller/start.ts";
import { nodeMetrics } from "../../components/shared-resource/node/metrics.ts";
import { fittingLimits, type MemoryLimits } from "../../components/shared-resource/node/plan-memory.ts";
import { startNode } from "../../components/shared-resource/node/start.ts";
import { socketPathOf } from "../../csi/address.ts";
import { checkedDriverName } from "../../csi/driver-name.ts";
import { namespaceIn, serviceAccountFolder } from "../../kube/config-pod.ts";
import { shareDriver } from "../../rules/shared-resources.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { checkAddress, checkComponent, componentFlags, registrationFlags } from "../../runtime/common-flags.ts";
import { runComponent } from "../../runtime/component.ts";
import { connect } from "../../runtime/connect.ts";
import { integer, type Options, oneOf, quantity, text } from "../../runtime/flag-kinds.ts";
import { type ProcessContext, runStandalone } from "../../runtime/frame.ts";
import { createLog } from "../../runtime/log.ts";
import { requestMeasure } from "../../runtime/measure.ts";
import { createAllowListReader, driverNamespace } from "../../runtime/share-allow-lists.ts";

const name = "shared-resource";
const node = { group: "Node driver" } as const;
/** The port and the files are those of the driver that is replaced. */
const tlsMetrics = { group: "Metrics and health" } as const;

const memoryFlag = (mebibytes: number, help: string) =>
  quantity({ ...node, default: binaryQuantity(mebibytes * mebibyte), help });

const flags = {
  mode: oneOf(["node", "controller"], {
    default: "node",
    help: "node: serve the volumes of this node's pods. controller: maintain the Available condition of all shares.",
  }),
  config: text({
    default: "/var/run/configmaps/config/config.yaml",
    help: "Optional file with the keys shareRelistInterval and refreshResources. The process ends when the file changes, to be started again with it.",
  }),
  allowListNamespace: text({
    default: "",
    example: driverNamespace,
    help: `Namespace of the ConfigMaps ocp-sharedsecret-list and ocp-sharedconfigmap-list. Read once at the start. Empty: the namespace of the pod's service account, else ${driverNamespace}.`,
  }),
  endpoint: text({
    ...node,
    default: "unix:///csi/csi.sock",
    help: "Unix socket to listen on. Its folder must exist.",
  }),
  driverName: text({
    ...node,
    name: "drivername",
    default: shareDriver,
    help: "Name of the driver in the volumes of pods.",
  }),
  nodeId: text({
    ...node,
    name: "nodeid",
    default: "",
    example: "node-1",
    environment: "KUBE_NODE_NAME",
    help: "Name of this node. Required in mode node.",
  }),
  maxVolumesPerNode: integer({
    ...node,
    name: "maxvolumespernode",
    default: 0,
    min: 0,
    help: "How many volumes the node can have; 0: any number.",
  }),
  ...registrationFlags(node.group, shareDriver),
  kubeletFolder: text({
    ...node,
    default: "/var/lib/kubelet",
    help: "The kubelet's --root-dir, as mounted in this process at the same path. Volumes are mounted below its folder pods, and nowhere else.",
  }),
  volumeMapFolder: text({
    ...node,
    default: "/csi-volumes-map",
    required: true,
    help: "Folder of the records of mounted volumes, on a file system that outlives the process. It is the folder of the driver that is replaced, whose volumes are taken over.",
  }),
  volumeMemory: memoryFlag(
    shareMemory.volumeMiB,
    "Memory that one volume may take: its files in whole pages, and what the kernel keeps about each of them, about 3 KiB.",
  ),
  namespaceMemory: memoryFlag(
    shareMemory.namespaceMiB,
    "Memory that all volumes of the pods of one namespace may take on this node.",
  ),
  nodeMemory: memoryFlag(
    shareMemory.nodeMiB,
    `Memory that all volumes of this node may take. It counts for this process: the limit of the container must be larger by ${shareMemory.updatesAtOnceMax} times --volume-memory and ${shareMemory.processMiB}Mi. Lowered at the start if the container has less.`,
  ),
  ...componentFlags,
  httpsEndpoint: text({
    ...tlsMetrics,
    default: ":6000",
    help: "Address of the HTTPS server for metrics in mode node. It serves as soon as --tls-cert-file and --tls-private-key-file exist. Empty: no server.",
  }),
  tlsCertFile: text({
    ...tlsMetrics,
    default: "/etc/secrets/tls.crt",
    help: "Serving certificate of --https-endpoint in PEM, with its chain. Reloaded when the file changes.",
  }),
  tlsPrivateKeyFile: text({
    ...tlsMetrics,
    default: "/etc/secrets/tls.key",
    help: "Private key of that certificate in PEM. Reloaded when the file changes.",
  }),
} as const;

type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  flags,
  metrics: { ...nodeMetrics, ...shareControllerMetrics },
  examples: [
    {
      does: "Serve the pods of this node, and register with its kubelet",
      line: "snapkeep shared-resource --mode=node --nodeid=node-1 --endpoint=/csi/csi.sock --kubelet-registration-path=/var/lib/kubelet/plugins/csi.sharedresource.openshift.io/csi.sock",
    },
    {
      does: "Maintain the conditions of all shares, with a standby",
      line: "snapkeep shared-resource --mode=controller --leader-election=true",
    },
  ],
  check: (options) =>
    checkComponent(options) ??
    (options.mode === "node"
      ? (checkNode(options) ??
        complaintOf(() => socketPathOf(options.endpoint)) ??
        complaintOf(() => checkedDriverName(options.driverName)))
      : undefined),
  run: async (input) => {
    const { options, world, error } = input;
    const { verbosity, loggingFormat: format } = options;
    const log = createLog({ format, verbosity, name, world, out: error });
    const text = await readConfigFile(options.config);
    const config = parseConfig(options.config, text, log);
    const fresh = untilConfigChanges(input, text, log);
    return options.mode === "node" ? runNode(fresh, config) : runController(fresh, config);
  },
});

const checkNode = ({ nodeId, httpsEndpoint }: Options<typeof flags>): string | undefined =>
  nodeId === ""
    ? "--nodeid is required in mode node; set KUBE_NODE_NAME from spec.nodeName"
    : checkAddress("https-endpoint", httpsEndpoint);

/** The same input, whose signal also aborts when the file has another text: the supervisor starts the process again. */
function untilConfigChanges(input: Input, text: string | undefined, log: Log): Input {
  const changed = new AbortController();
  const signal = AbortSignal.any([input.signal, changed.signal]);
  void whenConfigChanges(input.options.config, text, { world: input.world, signal }).then((isOther) => {
    if (!isOther) return;
    log.info("configuration has changed, stopping", { config: input.options.config });
    changed.abort(new Fault("Cancelled", "the configuration has changed"));
  });
  return { ...input, signal };
}

const runController = (input: Input, config: ReturnType<typeof parseConfig>): Promise<number> =>
  runComponent(input, {
    name,
    kinds: ["SharedSecret", "SharedConfigMap"],
    waitMsMax: 30_000,
    start: async (context) =>
      startController(context, {
        config,
        environment: input.environment,
        allowListNamespace: await allowListNamespaceOf(input),
      }),
  });

const runNode = (input: Input, config: ReturnType<typeof parseConfig>): Promise<number> => {
  const { options, version } = input;
  const { kubeletRegistrationPath: endpoint, kubeletRegistryFolder: registryFolder } = options;
  const start = (context: ProcessContext) =>
    startNode(context, {
      ...options,
      name: checkedDriverName(options.driverName),
      version,
      address: socketPathOf(options.endpoint),
      registration: endpoint === "" ? undefined : { endpoint, registryFolder },
      config,
      recordFolder: options.volumeMapFolder,
      memory: memoryFor(options, context.log),
      connect: (signal) => connectWithLists(input, context, signal),
    });
  const files = { certFile: options.tlsCertFile, keyFile: options.tlsPrivateKeyFile };
  return runStandalone(input, name, start, { endpoint: options.httpsEndpoint, files });
};

/** What the flags say, as far as the container has it. */
function memoryFor({ volumeMemory, namespaceMemory, nodeMemory }: Options<typeof flags>, log: Log): MemoryLimits {
  const volumeBytes = Number(wholeUnits(volumeMemory));
  const wanted = {
    volumeBytes,
    namespaceBytes: Number(wholeUnits(namespaceMemory)),
    nodeBytes: Number(wholeUnits(nodeMemory)),
  };
  const besideBytes = besideVolumesMiB(volumeBytes / mebibyte) * mebibyte;
  // 0: no limit is known.
  const containerBytes = process.constrainedMemory() || undefined;
  const fitting = fittingLimits(wanted, { containerBytes, besideBytes });
  if (fitting.nodeBytes < wanted.nodeBytes)
    log.warn("volumes get less memory than --node-memory, because the container's limit is too low: raise it", {
      nodeMiB: Math.floor(fitting.nodeBytes / mebibyte),
      wantedMiB: Math.floor(wanted.nodeBytes / mebibyte),
      containerMiB: Math.floor((containerBytes ?? 0) / mebibyte),
      neededMiB: Math.ceil((wanted.nodeBytes + besideBytes) / mebibyte),
    });
  return fitting;
}

async function connectWithLists(input: Input, context: ProcessContext, signal: AbortSignal) {
  const connection = await connectTo(input, context, signal);
  const reader = createAllowListReader({
    ...context,
    environment: input.environment,
    namespace: await allowListNamespaceOf(input),
    connect: async () => ({ api: connection.api }),
  });
  return { ...connection, lists: reader };
}

const allowListNamespaceOf = async ({ options }: Input): Promise<string> =>
  options.allowListNamespace || ((await namespaceIn(serviceAccountFolder)) ?? driverNamespace);

const connectTo = (input: Input, { world, log, metrics }: ProcessContext, signal: AbortSignal) =>
  connect({
    flags: input.options,
    kinds: ["SharedSecret", "SharedConfigMap"],
    waitMsMax: Number.POSITIVE_INFINITY,
    // Pods wait for their volumes.
    pauseMsMax: 1_000,
    userAgent: `${name}/snapkeep-${input.version}`,
    environment: input.environment,
    world,
    log,
    signal,
    measure: requestMeasure(metrics),
  });
