/**
 * Flags that several components share. Names, defaults and meanings are those of the programs we replace, except where
 * a default hurts people: it is said at the row.
 */
import { parseQuantity } from "../base/quantity.ts";
import { parseAddress } from "./address.ts";
import type { Options } from "./flag-kinds.ts";
import { bool, decimal, duration, integer, mapping, oneOf, quantity, text } from "./flag-kinds.ts";

const apiGroup = { group: "Kubernetes API" } as const;

export const kubeFlags = {
  kubeconfig: text({
    ...apiGroup,
    default: "",
    example: "$HOME/.kube/config",
    help: "Path of a kubeconfig file. Empty: the files in $KUBECONFIG, else ~/.kube/config, else the service account of the pod.",
  }),
  context: text({
    ...apiGroup,
    default: "",
    example: "kind-dev",
    help: "Context of the kubeconfig. Empty: its current context.",
  }),
  kubeApiQps: decimal({
    ...apiGroup,
    default: 0,
    example: "50",
    help: "Maximum requests per second to the API server; 0 or less means no limit, because the server's priority and fairness limits clients better than a fixed rate.",
  }),
  kubeApiBurst: integer({
    ...apiGroup,
    default: 0,
    min: 0,
    example: "100",
    help: "Number of requests that may exceed --kube-api-qps in a burst; used only if --kube-api-qps is set.",
  }),
} as const;

const loggingGroup = { group: "Logging" } as const;
const ignored = { ...loggingGroup, hidden: true, help: "Accepted for compatibility; has no effect." } as const;

export const loggingFlags = {
  verbosity: integer({
    ...loggingGroup,
    name: "v",
    default: 0,
    min: 0,
    help: "Log verbosity: 0 for operators, 4 adds each decision, 5 adds each CSI call and each write to the API server.",
  }),
  loggingFormat: oneOf(["text", "json"], {
    ...loggingGroup,
    default: "text",
    help: "Log format.",
  }),
  vmodule: text({ ...ignored, default: "" }),
  logFlushFrequency: duration({ ...ignored, default: 5_000 }),
  logTextSplitStream: bool({ ...ignored, default: false }),
  logTextInfoBufferSize: quantity({ ...ignored, default: parseQuantity(0) }),
  logJsonSplitStream: bool({ ...ignored, default: false }),
  logJsonInfoBufferSize: quantity({ ...ignored, default: parseQuantity(0) }),
  logtostderr: bool({ ...ignored, default: true }),
  alsologtostderr: bool({ ...ignored, default: false }),
  stderrthreshold: text({ ...ignored, default: "2" }),
  logDir: text({ ...ignored, default: "" }),
  logFile: text({ ...ignored, default: "" }),
  logFileMaxSize: text({ ...ignored, default: "1800" }),
  logBacktraceAt: text({ ...ignored, default: "" }),
  oneOutput: bool({ ...ignored, default: false }),
  addDirHeader: bool({ ...ignored, default: false }),
  skipHeaders: bool({ ...ignored, default: false }),
  skipLogHeaders: bool({ ...ignored, default: false }),
  automaxprocs: bool({ ...ignored, default: false }),
} as const;

const leaderGroup = { group: "Leader election" } as const;

export const leaderFlags = {
  leaderElection: bool({
    ...leaderGroup,
    default: false,
    help: "Act only while holding the lease, so that other replicas can be on standby.",
  }),
  leaderElectionNamespace: text({
    ...leaderGroup,
    default: "",
    example: "kube-system",
    environment: "POD_NAMESPACE",
    help: "Namespace of the lease. Empty: the namespace of the pod's service account, else default.",
  }),
  leaderElectionLeaseDuration: duration({
    ...leaderGroup,
    default: 15_000,
    min: 1_000,
    help: "How long a standby waits after the last observed renewal before it takes over.",
  }),
  leaderElectionRenewDeadline: duration({
    ...leaderGroup,
    default: 10_000,
    min: 1,
    help: "How long the leader retries a renewal before it steps down; shorter than the lease duration.",
  }),
  leaderElectionRetryPeriod: duration({
    ...leaderGroup,
    default: 5_000,
    min: 1,
    help: "Time between two attempts to renew or acquire the lease.",
  }),
  leaderElectionLabels: mapping({
    ...leaderGroup,
    default: {},
    example: "team:storage",
    help: "Labels of the lease.",
  }),
} as const;

const servingGroup = { group: "Metrics and health" } as const;

export const servingFlags = {
  httpEndpoint: text({
    ...servingGroup,
    default: "",
    example: ":8080",
    deprecated: { "metrics-address": "use --http-endpoint" },
    help: "Address of the HTTP server for metrics and health, for example :8080 or localhost:8080. Empty: no server.",
  }),
  metricsPath: text({ ...servingGroup, default: "/metrics", help: "HTTP path of the metrics." }),
} as const;

const workGroup = { group: "Work" } as const;

export const workFlags = {
  workerThreads: integer({
    ...workGroup,
    default: 10,
    min: 1,
    max: 10_000,
    help: "Number of concurrent reconciles per queue.",
  }),
  retryIntervalStart: duration({
    ...workGroup,
    default: 1_000,
    min: 1,
    help: "Delay after the first failure; doubles with each further failure, with jitter.",
  }),
  retryIntervalMax: duration({ ...workGroup, default: 300_000, min: 1, help: "Maximum delay between two attempts." }),
  resyncPeriod: duration({
    ...workGroup,
    default: 900_000,
    min: 0,
    help: "Time between two resyncs, which reconcile every object. 0: no resync.",
  }),
} as const;

/** A driver that is given the path of its socket registers itself with the kubelet. */
export const registrationFlags = (group: string, driver: string) => ({
  kubeletRegistrationPath: text({
    group,
    default: "",
    example: `/var/lib/kubelet/plugins/${driver}/csi.sock`,
    help: "Path of the driver's socket on the host. If set, the driver registers itself with the kubelet; no node-driver-registrar is needed.",
  }),
  kubeletRegistryFolder: text({
    group,
    default: "/var/lib/kubelet/plugins_registry",
    help: "The kubelet's plugin registration folder, as mounted in this process.",
  }),
});

/** What `runComponent` works with: a component has all of these, and its own. */
export const componentFlags = { ...kubeFlags, ...loggingFlags, ...leaderFlags, ...servingFlags, ...workFlags } as const;
export type ComponentFlags = Options<typeof componentFlags>;

/** Flag tables may contradict themselves in only a few ways; each component's `check` asks for those it has. */
function checkLeaderTimes(options: {
  readonly leaderElectionLeaseDuration: number;
  readonly leaderElectionRenewDeadline: number;
  readonly leaderElectionRetryPeriod: number;
}): string | undefined {
  const { leaderElectionLeaseDuration: lease, leaderElectionRenewDeadline: renew } = options;
  if (lease <= renew)
    return "--leader-election-lease-duration must be longer than --leader-election-renew-deadline, else two replicas could act at once; for example 15s and 10s";
  if (renew <= options.leaderElectionRetryPeriod * 1.2)
    return "--leader-election-renew-deadline must be longer than 1.2 times --leader-election-retry-period, so that one failed try does not lose the lease; for example 10s and 5s";
  return undefined;
}

/** Empty: nothing is served. */
export const checkAddress = (flag: string, value: string): string | undefined =>
  value === "" || parseAddress(value) !== undefined
    ? undefined
    : `--${flag}: ${JSON.stringify(value)} is not valid: expected an address with a port; for example --${flag}=:8080`;

export const checkEndpoint = ({ httpEndpoint }: { readonly httpEndpoint: string }): string | undefined =>
  checkAddress("http-endpoint", httpEndpoint);

/** For sidecars that can run on every node. `serves` completes "every node serves its own …". */
export const checkNodeDeployment = (
  options: { readonly nodeDeployment: boolean; readonly nodeName: string; readonly leaderElection: boolean },
  serves: string,
): string | undefined => {
  if (!options.nodeDeployment) return undefined;
  if (options.nodeName === "")
    return "--node-deployment needs the node's name in the environment variable NODE_NAME; set it from spec.nodeName";
  return options.leaderElection
    ? `--node-deployment and --leader-election exclude each other: every node serves its own ${serves}; drop one`
    : undefined;
};

export const checkComponent = (options: ComponentFlags): string | undefined =>
  checkEndpoint(options) ?? checkRetryTimes(options) ?? checkLeaderTimes(options);

const checkRetryTimes = (options: {
  readonly retryIntervalStart: number;
  readonly retryIntervalMax: number;
}): string | undefined =>
  options.retryIntervalStart > options.retryIntervalMax
    ? "--retry-interval-start must not be longer than --retry-interval-max; for example 1s and 5m"
    : undefined;
