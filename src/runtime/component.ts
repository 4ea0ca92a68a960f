/**
 * What the main of every component does, so that a component is only what it is about:
 *
 *   flags → log → metrics and health over HTTP → connection → start → watch ─┬─▶ lead ──▶ run ──▶ stop, in reverse
 *                                                                            └─ caches stay warm while another leads
 *
 * Before the first answer of the API server there is a bound (`waitMsMax`). After it nothing gives up but the lease.
 */
import { hostname } from "node:os";
import type { KindName } from "../api/kinds.ts";
import type { EventText } from "../api/plan.ts";
import type { KubeObject } from "../api/types.ts";
import type { Backoff } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { uuid } from "../base/world.ts";
import type { KubeApi, PathAsker, PathReader } from "../kube/api.ts";
import { namespaceIn, serviceAccountFolder } from "../kube/config-pod.ts";
import type { EventRecorder } from "../kube/events.ts";
import { createEventRecorder } from "../kube/events.ts";
import type { Leadership } from "../kube/lease.ts";
import { lead } from "../kube/lease.ts";
import type { CommandContext } from "./command.ts";
import type { ComponentFlags } from "./common-flags.ts";
import type { Connection } from "./connect.ts";
import { connect } from "./connect.ts";
import { createLeaderGuard, type LeaderGuard } from "./leader-guard.ts";
import { createLog } from "./log.ts";
import { queueObserver, requestMeasure } from "./measure.ts";
import type { Metrics } from "./metrics.ts";
import { createMetrics, leaderMetrics } from "./metrics.ts";
import { measureProcess } from "./process-metrics.ts";
import type { QueueObserver } from "./queue.ts";
import type { Check, StatusPagesOptions } from "./status-pages.ts";
import { serveStatus } from "./status-server.ts";

/** What a component is given to be built from. */
export interface ComponentContext {
  readonly api: KubeApi & PathReader & PathAsker;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly workers: number;
  readonly backoff: Backoff;
  readonly resyncMs: Millis;
  /** Aborts when the process is told to stop. */
  readonly signal: AbortSignal;
  /** To be asked before every write. */
  leading(): boolean;
  /** For calls to a driver, as for requests to the API server: asked just before the first byte. */
  readonly refusal: LeaderGuard["ofCall"];
  /** Events as they are to be signed: a sidecar adds the name of its driver, which it learns only from the driver. */
  recordAs(source: string): (about: KubeObject, event: EventText) => void;
  observer(queue: string): QueueObserver;
}

export interface Component {
  readonly leaseName: string;
  /** Keeps the caches current, also while another replica leads, so that taking over is quick. */
  watch?(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts; runs only while leading. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether its caches are whole: so is a replica ready that stands by, and one that leads. */
  readonly ready: Check;
  readonly health?: Readonly<Record<string, Check>>;
}

export interface ComponentSpec {
  readonly name: string;
  /** What it reads: all of them must be there before it starts. */
  readonly kinds: readonly KindName[];
  /** How long it waits for the API server and those kinds. */
  readonly waitMsMax: Millis;
  start(context: ComponentContext): Promise<Component>;
}

export interface ComponentInput extends CommandContext {
  readonly options: ComponentFlags;
}

/** Returns the exit code; what went wrong is thrown, for one line of last words. */
export async function runComponent(input: ComponentInput, spec: ComponentSpec): Promise<number> {
  const { options, world, signal } = input;
  const { verbosity, loggingFormat: format } = options;
  const log = createLog({ format, verbosity, name: spec.name, world, out: input.error });
  const metrics = createMetrics();
  measureProcess(metrics);
  const state = createState(options);
  const closers: (() => unknown)[] = [];
  try {
    const server = await serveStatus(options.httpEndpoint, pagesOf(input, metrics, state), { log, world });
    if (server !== undefined) closers.push(() => server.close());
    const connection = await connectFor(input, spec, metrics, log, state);
    closers.push(connection.close);
    const recordAs = (source: string): EventRecorder["record"] => {
      const events = createEventRecorder({ api: connection.api, world, log, component: source, host: hostname() });
      closers.push(() => events.close(eventsMsMax));
      return events.record;
    };
    const component = await spec.start(contextOf(input, connection, recordAs, metrics, log, state));
    state.component = component;
    const watching = new AbortController();
    closers.push(() => watching.abort());
    log.info("started", { version: input.version, server: connection.target.server.origin });
    await Promise.race([
      workOrFail(component.watch?.(watching.signal), watching.signal),
      leadAndRun(input, connection, component, { state, metrics, log, recordAs }),
      connection.outdated,
    ]);
    log.info("stopped");
    return 0;
  } catch (reason) {
    if (signal.aborted && Fault.from(reason).code === "Cancelled") return 0;
    throw reason;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** For the events that wait to be sent when everything else has ended. */
const eventsMsMax = 2_000;

/** What the health pages and the hands look at while things come and go. */
interface State {
  component: Component | undefined;
  leadership: Leadership | undefined;
  readonly leading: () => boolean;
  readonly leaderGuard: LeaderGuard;
}

function createState({ leaderElection }: ComponentFlags): State {
  const leading = (): boolean => !leaderElection || state.leadership?.stillLeading() === true;
  const state: State = {
    component: undefined,
    leadership: undefined,
    leading,
    leaderGuard: createLeaderGuard(leading),
  };
  return state;
}

const pagesOf = ({ options }: ComponentInput, metrics: Metrics, state: State): StatusPagesOptions => ({
  metrics,
  metricsPath: options.metricsPath,
  ready: () => (state.component === undefined ? "waiting for the API server" : state.component.ready()),
  health: {
    // There also without an election: a probe of a manifest must not fail because of a flag.
    "leader-election": () => (state.leadership?.stillLeading() === false ? "the lease is lost" : undefined),
    component: () => firstProblem(state.component?.health ?? {}),
  },
});

const firstProblem = (checks: Readonly<Record<string, Check>>): string | undefined => {
  for (const [name, check] of Object.entries(checks)) {
    const problem = check();
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
};

const connectFor = (
  input: ComponentInput,
  spec: ComponentSpec,
  metrics: Metrics,
  log: Log,
  state: State,
): Promise<Connection> =>
  connect({
    flags: input.options,
    kinds: spec.kinds,
    waitMsMax: spec.waitMsMax,
    userAgent: `${spec.name}/snapkeep-${input.version}`,
    environment: input.environment,
    world: input.world,
    log,
    signal: input.signal,
    measure: requestMeasure(metrics),
    refusal: state.leaderGuard.ofRequest,
  });

const contextOf = (
  { options, world, signal }: ComponentInput,
  { api }: Connection,
  recordAs: ComponentContext["recordAs"],
  metrics: Metrics,
  log: Log,
  state: State,
): ComponentContext => ({
  api,
  world,
  log,
  metrics,
  workers: options.workerThreads,
  backoff: { startMs: options.retryIntervalStart, maxMs: options.retryIntervalMax },
  resyncMs: options.resyncPeriod,
  signal,
  leading: state.leading,
  refusal: state.leaderGuard.ofCall,
  recordAs,
  observer: (queue) => queueObserver(metrics, queue),
});

/** A watch that ends before it was told to has failed; one that was told to leaves the word to the work. */
async function workOrFail(watching: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  await watching;
  if (watching === undefined || signal.aborted) await new Promise<never>(() => undefined);
  throw new Fault("Internal", "the watch ended by itself");
}

async function leadAndRun(
  { options, world, signal }: ComponentInput,
  { api }: Connection,
  component: Component,
  {
    state,
    metrics,
    log,
    recordAs,
  }: { state: State; metrics: Metrics; log: Log; recordAs: ComponentContext["recordAs"] },
): Promise<void> {
  if (!options.leaderElection) return component.run(signal);
  // Two processes of one host name (host network, a restarted container) are still two.
  const identity = `${hostname()}_${uuid(world)}`;
  const { status, slow } = metrics.instruments(leaderMetrics);
  const labels = { name: component.leaseName };
  status.set(labels, 0);
  const end = await lead(
    {
      api,
      world,
      log,
      // Not that of the kubeconfig's context: the program replaced stands for election in the pod's, and a swap must find its lease.
      namespace: options.leaderElectionNamespace || (await namespaceIn(serviceAccountFolder)),
      name: component.leaseName,
      identity,
      record: recordAs(`${component.leaseName}/${identity}`),
      labels: options.leaderElectionLabels,
      leaseDurationMs: options.leaderElectionLeaseDuration,
      renewDeadlineMs: options.leaderElectionRenewDeadline,
      retryPeriodMs: options.leaderElectionRetryPeriod,
      signal,
      onSlowRenewal: () => slow.add(labels),
    },
    (leadership) => {
      state.leadership = leadership;
      status.set(labels, 1);
      return component.run(leadership.signal);
    },
  );
  status.set(labels, 0);
  if (end === "lost")
    throw new Fault("Aborted", `lost the lease ${component.leaseName}; ending so that a fresh start can stand by`);
}
