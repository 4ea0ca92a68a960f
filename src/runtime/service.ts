/**
 * A process that serves requests and needs neither an API server nor a lease:
 *
 *   flags → log → metrics and health over HTTP → start → run ──▶ stop
 */
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { CommandContext } from "./command.ts";
import type { loggingFlags, servingFlags } from "./common-flags.ts";
import type { Options } from "./flag-kinds.ts";
import { createLog } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { measureProcess } from "./process-metrics.ts";
import type { Check } from "./status-pages.ts";
import { serveStatus } from "./status-server.ts";

export interface ServiceContext {
  readonly world: World;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Aborts when the process is told to stop. */
  readonly signal: AbortSignal;
}

export interface Service {
  /** Serves until the signal aborts, then lets running requests end. */
  run(signal: AbortSignal): Promise<void>;
  readonly ready?: Check;
}

export interface ServiceInput extends CommandContext {
  readonly options: Options<typeof loggingFlags & typeof servingFlags>;
}

/** Returns the exit code; what went wrong is thrown. */
export async function runService(
  input: ServiceInput,
  name: string,
  start: (context: ServiceContext) => Promise<Service>,
): Promise<number> {
  const { options, world, signal } = input;
  const { verbosity, loggingFormat: format } = options;
  const log = createLog({ format, verbosity, name, world, out: input.error });
  const metrics = createMetrics();
  measureProcess(metrics);
  let service: Service | undefined;
  const ready: Check = () => (service === undefined ? "starting" : service.ready?.());
  const pages = { metrics, metricsPath: options.metricsPath, ready, health: {} };
  const server = await serveStatus(options.httpEndpoint, pages, { log, world });
  try {
    service = await start({ world, log, metrics, signal });
    await service.run(signal);
    log.info("stopped");
    return 0;
  } catch (reason) {
    if (signal.aborted && Fault.from(reason).code === "Cancelled") return 0;
    throw reason;
  } finally {
    await server?.close();
  }
}
