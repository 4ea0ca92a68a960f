/**
 * The frame of every long-running process, with or without an API connection:
 *
 *   flags → log → metrics and health over HTTP → start → run ──▶ stop, in reverse
 */
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { CommandContext } from "./command.ts";
import type { loggingFlags, servingFlags } from "./common-flags.ts";
import type { Options } from "./flag-kinds.ts";
import { limitHeapGrowth } from "./heap-growth.ts";
import { createLog } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { measureProcess } from "./process-metrics.ts";
import type { Check } from "./status-pages.ts";
import { serveStatus, serveStatusOverTls, type TlsStatus } from "./status-server.ts";

/** What every component is built from. */
export interface ProcessContext {
  readonly world: World;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Aborts when the process is stopped. */
  readonly signal: AbortSignal;
}

/** What `start` of a component returns. */
export interface Component {
  /** The lease that the replicas compete for; absent: every replica works. */
  readonly leaseName?: string | undefined;
  /** Keeps the caches current, also while another replica leads, so that a standby takes over quickly. */
  watch?(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts; with a lease, only while leading. */
  run(signal: AbortSignal): Promise<void>;
  /** What is missing until the component is ready. A standby with complete caches is ready too, once it has read the lease. */
  readonly ready?: Check | undefined;
  readonly health?: Readonly<Record<string, Check>> | undefined;
  /** Further pages beside metrics and health, by path: text for anybody who reaches the pod. */
  readonly pages?: Readonly<Record<string, () => Promise<string>>> | undefined;
}

export interface FrameInput extends CommandContext {
  readonly options: Options<typeof loggingFlags> & Partial<Options<typeof servingFlags>>;
}

export interface Frame extends ProcessContext {
  /** From now on the readiness and health pages show this component. */
  show(component: Component): void;
  /** Called at the end, the last one first. */
  onClose(close: () => unknown): void;
}

export interface FrameOptions {
  readonly name: string;
  /** What /readyz says before the component is shown. */
  readonly unstarted: string;
  readonly health?: Readonly<Record<string, Check>> | undefined;
  /** The pages are served over TLS too. */
  readonly tls?: TlsStatus | undefined;
}

/** Returns the exit code. Failures are thrown; the caller prints them as one line. */
export async function runFrame(
  input: FrameInput,
  { name, unstarted, health = {}, tls }: FrameOptions,
  work: (frame: Frame) => Promise<void>,
): Promise<number> {
  const { options, world, signal } = input;
  const { verbosity, loggingFormat: format, httpEndpoint = "", metricsPath = "/metrics" } = options;
  const log = createLog({ format, verbosity, name, world, out: input.error });
  const metrics = createMetrics();
  measureProcess(metrics);
  limitHeapGrowth();
  let component: Component | undefined;
  const pages = {
    metrics,
    metricsPath,
    ready: () => (component === undefined ? unstarted : component.ready?.()),
    health: { ...health, component: () => firstProblem(component?.health ?? {}) },
    page: (path: string) => (Object.hasOwn(component?.pages ?? {}, path) ? component?.pages?.[path] : undefined),
  };
  const closers: (() => unknown)[] = [];
  const show = (shown: Component): void => {
    component = shown;
  };
  try {
    const server = await serveStatus(httpEndpoint, pages, { log, world });
    if (server !== undefined) closers.push(() => server.close());
    if (tls !== undefined) closers.push(serveStatusOverTls(tls, pages, { log, world }).close);
    await work({ world, log, metrics, signal, show, onClose: (close) => void closers.push(close) });
    log.info("stopped");
    return 0;
  } catch (reason) {
    if (signal.aborted && Fault.from(reason).code === "Cancelled") return 0;
    throw reason;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

const firstProblem = (checks: Readonly<Record<string, Check>>): string | undefined => {
  for (const [name, check] of Object.entries(checks)) {
    const problem = check();
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
};

/** Runs a component that needs neither an API connection nor a lease before it starts. */
export const runStandalone = (
  input: FrameInput,
  name: string,
  start: (context: ProcessContext) => Promise<Component>,
  tls?: TlsStatus,
): Promise<number> =>
  runFrame(input, { name, unstarted: "starting", tls }, async (frame) => {
    const component = await start(frame);
    frame.show(component);
    await component.run(frame.signal);
  });
