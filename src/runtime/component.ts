/**
 * The main of every component that works on the Kubernetes API, inside the frame of frame.ts:
 *
 *   connection → start → watch ─┬─▶ lead ──▶ run
 *                               └─ caches stay current while another replica leads
 *
 * The wait for the API server's first reply has a bound (`waitMsMax`). After it only a lost lease ends the process.
 */
import type { KindName } from "../api/kinds.ts";
import type { Backoff } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import type { GrpcChannel } from "../csi/grpc.ts";
import type { KubeApi, PathAsker, PathReader, VersionFinder } from "../kube/api.ts";
import type { EventRecorder } from "../kube/events.ts";
import type { LeaseTerm } from "../kube/lease-record.ts";
import type { SharedStores } from "../kube/shared-stores.ts";
import type { kubeFlags } from "./common-flags.ts";
import { type Connection, type ConnectOptions, connect, type RateFlags } from "./connect.ts";
import type { ControllerObserver } from "./controller.ts";
import type { Options } from "./flag-kinds.ts";
import { type Component, type Frame, type FrameInput, type ProcessContext, runFrame } from "./frame.ts";
import type { LeaderGuard } from "./leader-guard.ts";
import { requestMeasure } from "./measure.ts";
import { createTurn, type TurnOptions } from "./turn.ts";

/** What a component that works on the Kubernetes API is built from: by a command, by `snapkeep up`, by the simulation. */
export interface ComponentContext extends ProcessContext {
  readonly api: KubeApi & PathReader & PathAsker & VersionFinder;
  /** A client with a rate limit of its own, for what must not delay anything else. Absent: the server is in the same process. */
  atRate?(rate: RateFlags): ComponentContext["api"];
  readonly workers: number;
  readonly backoff: Backoff;
  readonly resyncMs: Millis;
  /** The connection to a driver that other controllers of the process use too; absent: each has its own. */
  channelTo?(address: string): GrpcChannel;
  /** The caches that other controllers of the process read too; absent: each has its own. */
  readonly shared?: SharedStores | undefined;
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

export interface ConnectedInput extends FrameInput {
  readonly options: FrameInput["options"] & Options<typeof kubeFlags>;
}

export interface ComponentInput extends ConnectedInput {
  readonly options: ConnectedInput["options"] & TurnOptions;
}

/** Returns the exit code. Failures are thrown; the caller prints them as one line. */
export async function runComponent(input: ComponentInput, spec: ComponentSpec): Promise<number> {
  const turn = createTurn(input.options, spec);
  const health = {
    // Also without an election: a probe in a manifest must not fail because of a flag.
    "leader-election": () => (turn.isLost() ? "the lease is lost" : undefined),
  };
  return runFrame(input, { name: spec.name, unstarted: "waiting for the API server", health }, async (frame) => {
    const { name: userAgent, kinds, waitMsMax } = spec;
    const refusal = turn.guard.ofRequest;
    const connection = await connectFor(input, frame, { userAgent, kinds, waitMsMax, refusal });
    frame.onClose(connection.close);
    const show = (component: Component): void => {
      frame.show(component);
      frame.log.info("started", { version: input.version, server: connection.target.server.origin });
    };
    await turn.run({ ...frame, show }, connection);
  });
}

/** The connection that the flags of a component name. */
export const connectFor = (
  { options, environment, world, signal, version }: ConnectedInput,
  { metrics, log }: Frame,
  { userAgent, ...asked }: Pick<ConnectOptions, "kinds" | "waitMsMax" | "userAgent" | "refusal">,
): Promise<Connection> =>
  connect({
    ...asked,
    ...{ flags: options, userAgent: userAgentOf(userAgent, version), environment, world, log, signal },
    measure: requestMeasure(metrics),
  });

/** Up to the slash it is also the field manager of what is written. */
export const userAgentOf = (name: string, version: string): string => `${name}/snapkeep-${version}`;
