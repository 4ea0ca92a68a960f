/**
 * A CSI driver seen from a client. Every call waits for the connection (a driver may start later than we do, and restart
 * at any time), carries a deadline, and comes back as a message or as a Fault whose finality says whether the driver may
 * still be at work.
 */
import { create, type DescService, type Message } from "@bufbuild/protobuf";
import { Fault, isFault, isFinal } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { socketPathOf } from "./address.ts";
import { type Capabilities, capabilitiesOf, controllerCapabilitiesOf } from "./capabilities.ts";
import { checkedDriverName } from "./driver-name.ts";
import { Controller, GroupController, Identity, Node } from "./gen/csi_pb.js";
import { createGrpcCore, type GrpcChannel, type RefuseCall } from "./grpc.ts";
import { deadlined, layered, logged, measured, type Sample } from "./layers.ts";
import { socketProblem } from "./socket-problem.ts";
import { type ServiceClient, type Unary, type UnaryCallOptions, unaryMethodsOf } from "./wire.ts";

export interface CsiClientOptions {
  readonly world: World;
  readonly log: Log;
  /** For each call, unless it brings its own. */
  readonly timeoutMs?: number | undefined;
  readonly measure?: ((sample: Sample) => void) | undefined;
}

/** Looks for what keeps a driver from answering; absent: the driver has no socket. */
type FindProblem = () => Promise<string>;

export interface CsiSocketOptions extends CsiClientOptions {
  /** "unix:///path" or the bare path. */
  readonly address: string;
  /** Told each time an established connection breaks; the next call connects again by itself. */
  readonly onConnectionLoss?: (() => void) | undefined;
  readonly refusal?: RefuseCall | undefined;
  /** The connection of the process, where several controllers use the driver; absent: one of its own. */
  readonly channel?: GrpcChannel | undefined;
}

export interface CsiClient {
  readonly identity: ServiceClient<typeof Identity>;
  readonly controller: ServiceClient<typeof Controller>;
  readonly group: ServiceClient<typeof GroupController>;
  readonly node: ServiceClient<typeof Node>;
  /** Asks once a second until the driver is there and says that it is ready; only the signal ends the wait. */
  probeUntilReady(signal: AbortSignal): Promise<void>;
  pluginName(signal: AbortSignal): Promise<string>;
  capabilities(signal: AbortSignal): Promise<Capabilities>;
  controllerCapabilities(signal: AbortSignal): Promise<Capabilities["controller"]>;
  close(): void;
}

export function createCsiClient(options: CsiSocketOptions): CsiClient {
  const core = options.channel?.open(options) ?? createGrpcCore(options.address, options);
  const path = socketPathOf(options.address);
  return createCsiClientOver(core.call, options, { close: core.close, findProblem: () => socketProblem(path) });
}

/** The same client over any core: a simulated driver needs no socket. */
export function createCsiClientOver(
  core: Unary,
  options: CsiClientOptions,
  { close = () => undefined, findProblem }: { close?(): void; readonly findProblem?: FindProblem } = {},
): CsiClient {
  const { world, log, measure, timeoutMs = limits.csiCallMsMax } = options;
  const call = layered(
    core,
    logged(log, world),
    ...(measure === undefined ? [] : [measured(measure, world)]),
    deadlined(world),
  );
  const identity = clientOf(Identity, call, timeoutMs);
  const controller = clientOf(Controller, call, timeoutMs);
  const group = clientOf(GroupController, call, timeoutMs);
  return {
    identity,
    controller,
    group,
    node: clientOf(Node, call, timeoutMs),
    probeUntilReady: (signal) => probeUntilReady(identity, { world, log, findProblem }, signal),
    pluginName: async (signal) => checkedDriverName((await identity.getPluginInfo({}, { signal })).name),
    capabilities: (signal) => capabilitiesOf({ identity, controller, group }, signal),
    controllerCapabilities: (signal) => controllerCapabilitiesOf(controller, signal),
    close,
  };
}

function clientOf<S extends DescService>(service: S, call: Unary, timeoutMsDefault: number): ServiceClient<S> {
  const methods = unaryMethodsOf(service).map((method) => [
    method.localName,
    (request: Message, { signal, timeoutMs = timeoutMsDefault }: UnaryCallOptions = {}) =>
      call({ method, request: create(method.input, request), timeoutMs }, signal ?? new AbortController().signal),
  ]);
  return Object.fromEntries(methods) as ServiceClient<S>;
}

interface Waiting {
  readonly world: World;
  readonly log: Log;
  readonly findProblem: FindProblem | undefined;
}

async function probeUntilReady(
  identity: ServiceClient<typeof Identity>,
  waiting: Waiting,
  signal: AbortSignal,
): Promise<void> {
  const { world, log } = waiting;
  let said = "";
  const stopNotices = startNotices(waiting, () => said);
  try {
    for (;;) {
      const why = await reasonNotReady(identity, signal);
      if (why === undefined) return;
      if (why !== said) log.info("csi driver not ready yet", { why });
      said = why;
      await world.sleep(limits.csiProbeEveryMs, signal);
    }
  } finally {
    stopNotices();
  }
}

/** Soon after the first Probe, and then now and then: a socket that is missing is the usual mistake of a new pod. */
function startNotices({ world, log, findProblem }: Waiting, lastReason: () => string): () => void {
  const startedMs = world.elapsed();
  let isOver = false;
  const notify = async (): Promise<void> => {
    const why = (await findProblem?.()) ?? (lastReason() || "Probe has no reply");
    if (isOver) return;
    log.info("csi driver has not answered Probe yet", { why, waitedMs: Math.round(world.elapsed() - startedMs) });
    stopTimer = world.after(limits.csiProbeNoticeEveryMs, ring);
  };
  const ring = (): void => void notify();
  let stopTimer = world.after(limits.csiProbeNoticeMs, ring);
  return () => {
    isOver = true;
    stopTimer();
  };
}

/** Undefined when ready. A driver that cannot be asked may be starting; one that refuses the question never gets ready. */
async function reasonNotReady(
  identity: ServiceClient<typeof Identity>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { ready } = await identity.probe({}, { signal });
    return (ready ?? true) ? undefined : "the driver answers that it is not ready";
  } catch (reason) {
    signal.throwIfAborted();
    const fault = Fault.from(reason);
    // FAILED_PRECONDITION is how CSI says "not healthy".
    if (isFinal(fault) && !isFault(fault, "FailedPrecondition")) throw fault;
    return fault.message;
  }
}
