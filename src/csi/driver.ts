/** A CSI driver as a sidecar knows it: its name, a client for its calls, and what it can do now. */
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { Capabilities } from "./capabilities.ts";
import { type CsiClient, type CsiClientOptions, createCsiClient, createCsiClientOver } from "./client.ts";
import { createCurrentCapabilities } from "./current-capabilities.ts";
import type { GrpcChannel, RefuseCall } from "./grpc.ts";
import type { Unary } from "./wire.ts";

type Capability = Capabilities["controller"] extends ReadonlySet<infer Name> ? Name : never;

export interface Driver {
  readonly name: string;
  readonly csi: CsiClient;
  /** Undefined while the driver is away: it may come back as another version. */
  capabilities(): Capabilities["controller"] | undefined;
  /** Called after the capabilities were read again, changed or not. */
  onRead(listener: () => void): void;
}

interface CallSeconds {
  observe(labels: Readonly<Record<"driver_name" | "method_name" | "grpc_status_code", string>>, seconds: number): void;
}

export interface DriverOptions {
  /** "unix:///path" or the bare path of the driver's socket. */
  readonly address: string;
  /** Carries the calls instead of the socket: a driver in the same process, or a simulated one. */
  readonly calls?: Unary | undefined;
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly refusal: RefuseCall;
  /** The connection of the process, where several controllers use the driver; absent: one of its own. */
  readonly channel?: GrpcChannel | undefined;
  /** How long each call took. The driver's name is "unknown-driver" until the driver has replied. */
  readonly seconds: CallSeconds;
  /** A driver without this capability is refused. */
  readonly needs: Capability;
  /** Why it is refused, and the remedy. */
  readonly otherwise: string;
}

/** Waits until the driver is ready; only the signal ends the wait. */
export async function openDriver(options: DriverOptions): Promise<Driver> {
  const { address, calls, world, log, signal, channel, refusal } = options;
  let name = "unknown-driver";
  let connectionLost = (): void => undefined;
  const listeners: (() => void)[] = [];
  const clientOptions: CsiClientOptions = {
    world,
    log,
    timeoutMs: options.timeoutMs,
    measure: ({ method, status, tookMs }) =>
      options.seconds.observe({ driver_name: name, method_name: method, grpc_status_code: status }, tookMs / 1000),
  };
  const onConnectionLoss = (): void => connectionLost();
  const csi =
    calls === undefined
      ? createCsiClient({ ...clientOptions, address, channel, refusal, onConnectionLoss })
      : createCsiClientOver(calls, clientOptions);
  if (channel !== undefined) signal.addEventListener("abort", csi.close, { once: true });
  await csi.probeUntilReady(signal);
  name = await csi.pluginName(signal);
  const first = await csi.controllerCapabilities(signal);
  if (!first.has(options.needs))
    throw new Fault("FailedPrecondition", `driver ${name} at ${address} ${options.otherwise}`);
  // A driver in this process was never waited for.
  if (calls === undefined) log.info("driver is ready", { driver: name });
  const onRead = (): void => {
    for (const listener of listeners) listener();
  };
  const capabilities = createCurrentCapabilities({ csi, first, world, log, signal, onRead });
  connectionLost = capabilities.connectionLost;
  return { name, csi, capabilities: capabilities.current, onRead: (listener) => void listeners.push(listener) };
}
