/**
 * The main of every component that works on the Kubernetes API, inside the frame of frame.ts:
 *
 *   connection → start → watch ─┬─▶ lead ──▶ run
 *                               └─ caches stay current while another replica leads
 *
 * The wait for the API server's first reply has a bound (`waitMsMax`). After it only a lost lease ends the process.
 */
import { hostname } from "node:os";
import type { KindName } from "../api/kinds.ts";
import type { Backoff } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { KubeApi, PathAsker, PathReader, VersionFinder } from "../kube/api.ts";
import { createEventRecorder, type EventRecorder } from "../kube/events.ts";
import type { Leadership } from "../kube/lease.ts";
import type { LeaseTerm } from "../kube/lease-record.ts";
import type { kubeFlags, workFlags } from "./common-flags.ts";
import { type Connection, connect, type RateFlags } from "./connect.ts";
import type { ControllerObserver } from "./controller.ts";
import { type LeaderOptions, runElected } from "./election.ts";
import type { Options } from "./flag-kinds.ts";
import { type Component, type Frame, type FrameInput, type ProcessContext, runFrame } from "./frame.ts";
import { createLeaderGuard, type LeaderGuard } from "./leader-guard.ts";
import { controllerObservers, requestMeasure } from "./measure.ts";

/** What a component that works on the Kubernetes API is built from: by a command, by `snapkeep up`, by the simulation. */
export interface ComponentContext extends ProcessContext {
  readonly api: KubeApi & PathReader & PathAsker & VersionFinder;
  /** A client with a rate limit of its own, for what must not delay anything else. Absent: the server is in the same process. */
  atRate?(rate: RateFlags): ComponentContext["api"];
  readonly workers: number;
  readonly backoff: Backoff;
  readonly resyncMs: Millis;
  /** Asked before every write. */
  leading(): boolean;
  /** Which turn of the component's lease this process has; undefined: there is no election. */
  readonly term?: (() => LeaseTerm | undefined) | undefined;
  /** Asked just before the first byte of a call to a driver, as for requests to the API server. */
  readonly refusal: LeaderGuard["ofCall"];
  /**
   * Records events under this source. A sidecar adds the name of its driver, which only the driver knows. Good news waits for a while
   * when the component is busy.
   */
  recordAs(source: string, isBusy?: () => boolean): EventRecorder["record"];
  observer(queue: string): ControllerObserver;
}

export interface ComponentSpec {
  readonly name: string;
  /** The kinds it reads. The API server must serve all of them before the component starts. */
  readonly kinds: readonly KindName[];
  /** How long to wait for the API server and those kinds. */
  readonly waitMsMax: Millis;
  start(context: ComponentContext): Promise<Component>;
}

export interface ComponentInput extends FrameInput {
  readonly options: FrameInput["options"] & Options<typeof kubeFlags & typeof workFlags> & LeaderOptions;
}

/** Returns the exit code. Failures are thrown; the caller prints them as one line. */
export async function runComponent(input: ComponentInput, spec: ComponentSpec): Promise<number> {
  const { options } = input;
  let elects = options.leaderElection === true;
  let leadership: Leadership | undefined;
  const leading = (): boolean => !elects || leadership?.stillLeading() === true;
  const leaderGuard = createLeaderGuard(leading);
  const health = {
    // Also without an election: a probe in a manifest must not fail because of a flag.
    "leader-election": () => (leadership?.stillLeading() === false ? "the lease is lost" : undefined),
  };
  return runFrame(input, { name: spec.name, unstarted: "waiting for the API server", health }, async (frame) => {
    const connection = await connectFor(input, spec, frame, leaderGuard);
    frame.onClose(connection.close);
    const term = (): LeaseTerm | undefined => leadership?.term();
    const context = contextOf(input, spec, frame, connection, { leading, term, refusal: leaderGuard.ofCall });
    const component = await spec.start(context);
    elects &&= component.leaseName !== undefined;
    let hasReadLease = !elects;
    // A rolling update ends the leader when a new replica is ready: that replica must be looking at the lease by then.
    const ready = () => component.ready?.() ?? (hasReadLease ? undefined : "the lease has not been read yet");
    frame.show({ ...component, ready });
    const watching = new AbortController();
    frame.onClose(() => watching.abort());
    frame.log.info("started", { version: input.version, server: connection.target.server.origin });
    const onLeadership = (gained: Leadership): void => {
      leadership = gained;
    };
    const onLeaseRead = (): void => {
      hasReadLease = true;
    };
    await Promise.race([
      failWhenEnded(component.watch?.(watching.signal), watching.signal),
      runElected(component, options, { ...context, onLeadership, onLeaseRead }),
    ]);
  });
}

/** Time to send the events that wait when everything else has ended. */
const eventsMsMax = 2_000;

const connectFor = (
  input: ComponentInput,
  spec: ComponentSpec,
  { metrics, log }: Frame,
  leaderGuard: LeaderGuard,
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
    refusal: leaderGuard.ofRequest,
  });

const contextOf = (
  { options }: ComponentInput,
  { name }: ComponentSpec,
  { world, log, metrics, signal, onClose }: Frame,
  { api, atRate }: Connection,
  guard: Pick<ComponentContext, "leading" | "term" | "refusal">,
): ComponentContext => ({
  api,
  atRate,
  world,
  log,
  metrics,
  signal,
  workers: options.workerThreads,
  backoff: { startMs: options.retryIntervalStart, maxMs: options.retryIntervalMax },
  resyncMs: options.resyncPeriod,
  ...guard,
  recordAs: (source, isBusy) => {
    const events = createEventRecorder({ api, world, log, component: source, host: hostname(), isBusy });
    onClose(() => events.close(eventsMsMax));
    return events.record;
  },
  observer: controllerObservers(metrics, name),
});

/** A watch that ends before it was stopped has failed; a stopped watch leaves the result to the work. */
async function failWhenEnded(watching: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  await watching;
  if (watching === undefined || signal.aborted) await new Promise<never>(() => undefined);
  throw new Fault("Internal", "the watch ended by itself");
}
