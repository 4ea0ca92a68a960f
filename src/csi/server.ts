/** A driver's end of the socket: typed handlers behind a Unix socket, with the layers that every driver needs. */
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import {
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  setLogVerbosity,
} from "@grpc/grpc-js";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { socketPathOf } from "./address.ts";
import { createLocks, type Layer, layered, locked, logged, measured, type Sample } from "./layers.ts";
import { type Served, unaryOf } from "./serve.ts";
import { makeRoomForSocket } from "./socket-file.ts";
import { grpcStatusOf } from "./status.ts";
import { decoderOf, encoderOf, methodPathOf, type Unary, unaryMethodsOf } from "./wire.ts";

// grpc-js would write to stderr by itself; all it has to say reaches us as an error of the call or of the bind.
setLogVerbosity(logVerbosity.NONE);

export interface CsiServerOptions {
  /** "unix:///path" or the bare path. */
  readonly address: string;
  readonly services: readonly Served[];
  readonly log: Log;
  readonly world: World;
  /** Stops the server: no new calls, the running ones may finish within `drainMs`. */
  readonly signal: AbortSignal;
  readonly drainMs?: number | undefined;
  /** Who may connect. Whoever may can mount as root, so by default it is the owner alone. */
  readonly mode?: number | undefined;
  readonly measure?: ((sample: Sample) => void) | undefined;
  /** Next to the work itself, inside of log and locks. */
  readonly innermost?: Layer | undefined;
}

export interface CsiServer {
  readonly path: string;
  /** Resolves when the last call has ended and the socket is gone. */
  readonly closed: Promise<void>;
}

export async function createCsiServer(options: CsiServerOptions): Promise<CsiServer> {
  const { services, log, world, measure, signal } = options;
  const path = socketPathOf(options.address);
  signal.throwIfAborted();
  const work = layered(
    unaryOf(services),
    logged(log, world),
    ...(measure === undefined ? [] : [measured(measure, world)]),
    locked(createLocks()),
    ...(options.innermost === undefined ? [] : [options.innermost]),
  );
  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": limits.csiMessageBytesMax,
  });
  const stopping = new AbortController();
  for (const { service } of services) {
    const entries = unaryMethodsOf(service).map((method) => [method.name, grpcMethod(method)] as const);
    const handlers = unaryMethodsOf(service).map((method) => [method.name, grpcHandler(method, work, stopping.signal)]);
    server.addService(Object.fromEntries(entries), Object.fromEntries(handlers));
  }
  await makeRoomForSocket(path);
  await bind(server, path);
  await chmod(path, options.mode ?? 0o600);
  log.info("csi server listens", { path });
  return { path, closed: closeOnAbort(server, stopping, options) };
}

const grpcMethod = (method: DescMethodUnary) => ({
  path: methodPathOf(method),
  requestStream: false as const,
  responseStream: false as const,
  requestSerialize: encoderOf(method.input),
  requestDeserialize: decoderOf(method.input),
  responseSerialize: encoderOf(method.output),
  responseDeserialize: decoderOf(method.output),
});

/**
 * The handler's signal aborts when the caller has gone or the drain time is over. In the latter case the caller gets its
 * answer at once, whatever the handler does: from a connection that just closes, it could think the call never arrived.
 */
function grpcHandler(method: DescMethodUnary, work: Unary, stopping: AbortSignal) {
  return (call: ServerUnaryCall<Message, Message>, reply: sendUnaryData<Message>): void => {
    const own = new AbortController();
    call.on("cancelled", () => own.abort(new Fault("Cancelled", `${method.name}: the caller has gone`)));
    const refuse = (reason: unknown): void => reply(grpcStatusOf(Fault.from(reason)));
    const cutOff = (): void => {
      own.abort(stopping.reason);
      refuse(stopping.reason);
    };
    stopping.addEventListener("abort", cutOff, { once: true });
    work({ method, request: call.request, timeoutMs: Number.POSITIVE_INFINITY }, own.signal)
      .finally(() => stopping.removeEventListener("abort", cutOff))
      .then((message) => reply(null, message), refuse);
  };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (reason) => {
      if (reason === null) resolve();
      else reject(new Fault("FailedPrecondition", `socket ${path} cannot be made: ${reason.message}`));
    });
  });
}

async function closeOnAbort(server: Server, stopping: AbortController, options: CsiServerOptions): Promise<void> {
  const { signal, world, log, drainMs = limits.shutdownMsMax } = options;
  if (!signal.aborted) await once(signal, "abort");
  const ended = new AbortController();
  const allEnded = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  const endWithin = (ms: number): Promise<boolean> =>
    Promise.race([
      allEnded.then(() => true),
      world.sleep(ms, ended.signal).then(
        () => false,
        () => true,
      ),
    ]);
  if (!(await endWithin(drainMs))) {
    log.warn("csi calls cancelled at shutdown", { drainMs });
    stopping.abort(new Fault("Unavailable", "the driver is shutting down"));
    if (!(await endWithin(limits.csiCutOffMs))) server.forceShutdown();
  }
  ended.abort();
}
