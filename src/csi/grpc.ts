/** The client's end of the socket: one grpc-js channel to one Unix socket. */

import type { Message } from "@bufbuild/protobuf";
import {
  Client,
  connectivityState,
  credentials,
  logVerbosity,
  Metadata,
  type ServiceError,
  setLogVerbosity,
} from "@grpc/grpc-js";
import { Fault, isFault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { socketPathOf } from "./address.ts";
import { CallAnswer, decodedMessage, faultCodeOf, malformedBecause } from "./status.ts";
import { type CsiCall, decoderOf, encoderOf, methodPathOf, type Unary } from "./wire.ts";

// grpc-js would write to stderr by itself; all it has to say reaches us as an error of the call or of the bind.
setLogVerbosity(logVerbosity.NONE);

const channelOptions = {
  // A socket has no host name, and Go's server refuses the path that would be sent in its place.
  "grpc.default_authority": "localhost",
  "grpc.enable_channelz": 0,
  "grpc.service_config_disable_resolution": 1,
  // grpc-js would share connections between clients of the same path; close() must close only ours.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": limits.csiReconnectMsMax,
  // An idle connection costs nothing on one machine, and closing it would look like a driver that went away.
  "grpc.client_idle_timeout_ms": 2 ** 31 - 1,
  "grpc.max_receive_message_length": limits.csiMessageBytesMax,
};

type Channel = ReturnType<Client["getChannel"]>;

export interface GrpcCore {
  readonly call: Unary;
  close(): void;
}

/** Asked when the connection is there, just before the first byte: a reason not to send, if there is one. */
export type RefuseCall = (call: CsiCall) => Fault | undefined;

interface GrpcOptions {
  readonly onConnectionLoss?: (() => void) | undefined;
  readonly refusal?: RefuseCall | undefined;
}

/** One connection to a socket, for any number of callers. */
export interface GrpcChannel {
  readonly address: string;
  /** `close` of a caller leaves the connection to the others. */
  open(options?: GrpcOptions): GrpcCore;
  close(): void;
}

export function createGrpcChannel(address: string): GrpcChannel {
  const path = socketPathOf(address);
  const client = new Client(`unix:${path}`, credentials.createInsecure(), channelOptions);
  const listeners = new Set<() => void>();
  const onLoss = (): void => {
    for (const listener of listeners) listener();
  };
  watchForLoss(client.getChannel(), onLoss);
  return {
    address,
    open: ({ onConnectionLoss, refusal } = {}) => {
      const listener = (): void => onConnectionLoss?.();
      listeners.add(listener);
      return {
        call: (call, signal) => send({ client, path, refusal }, call, signal),
        close: () => void listeners.delete(listener),
      };
    },
    close: () => client.close(),
  };
}

export function createGrpcCore(address: string, options: GrpcOptions = {}): GrpcCore {
  const { open, close } = createGrpcChannel(address);
  return { ...open(options), close };
}

interface Line {
  readonly client: Client;
  readonly path: string;
  readonly refusal: RefuseCall | undefined;
}

function send({ client, path, refusal }: Line, call: CsiCall, signal: AbortSignal): Promise<Message> {
  const { method, request, timeoutMs } = call;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(Fault.from(signal.reason));
    const metadata = new Metadata({ waitForReady: true });
    // The driver learns how long we wait; the clock that ends the wait is the World's, not one inside grpc-js.
    metadata.set("grpc-timeout", timeoutOf(timeoutMs));
    let refused: Fault | undefined;
    // The one thing grpc-js asks us for when it has a connection and has sent nothing: what else goes into the headers.
    const lastWord = credentials.createFromMetadataGenerator((_, goOn) => {
      refused = refusal?.(call);
      if (refused === undefined) goOn(null, new Metadata());
      else goOn(refused);
    });
    const finish = (error: ServiceError | null, reply?: Message): void => {
      signal.removeEventListener("abort", cancel);
      if (error === null && reply !== undefined) resolve(reply);
      else if (refused !== undefined) reject(refused);
      else reject(signal.aborted ? whyStopped(signal, client.getChannel(), path) : answerOf(call, error));
    };
    const sent = client.makeUnaryRequest(
      methodPathOf(method),
      encoderOf(method.input),
      decoderOf(method.output),
      request,
      metadata,
      refusal === undefined ? {} : { credentials: lastWord },
      finish,
    );
    const cancel = (): void => sent.cancel();
    signal.addEventListener("abort", cancel, { once: true });
  });
}

/** The header takes eight digits: milliseconds reach to a day, then seconds. */
const timeoutOf = (ms: number): string =>
  ms < 1e8 ? `${Math.max(1, Math.ceil(ms))}m` : `${Math.min(Math.ceil(ms / 1000), 99_999_999)}S`;

function answerOf({ method }: CsiCall, error: ServiceError | null): Fault {
  // A reply that grpc-js cannot decompress fails without code and details.
  const { code = 0, details: received = "it cannot be decompressed" } = error ?? {};
  const details = decodedMessage(received);
  const faultCode = faultCodeOf({ code, details });
  switch (faultCode) {
    case "UnknownOutcome":
      return new Fault("UnknownOutcome", `${method.name}: the connection broke, the outcome is unknown: ${details}`);
    case "MalformedReply":
      return new Fault("MalformedReply", `${method.name}: ${malformedBecause({ code, details })}`);
    default:
      return new CallAnswer({ code, details });
  }
}

function whyStopped(signal: AbortSignal, channel: Channel, path: string): Fault {
  const fault = Fault.from(signal.reason);
  const connected = channel.getConnectivityState(false) === connectivityState.READY;
  if (connected || !isFault(fault, "DeadlineExceeded")) return fault;
  return new Fault(fault.code, `${fault.message}; nothing answers at ${path}: is the driver running?`);
}

/** grpc-js reports a state once per watch, and does not keep the process alive for it. */
function watchForLoss(channel: Channel, onConnectionLoss: () => void): void {
  const watch = (last: connectivityState): void => {
    if (last === connectivityState.SHUTDOWN) return;
    channel.watchConnectivityState(last, Number.POSITIVE_INFINITY, () => {
      const state = channel.getConnectivityState(false);
      if (last === connectivityState.READY && state !== connectivityState.SHUTDOWN) onConnectionLoss();
      watch(state);
    });
  };
  watch(channel.getConnectivityState(false));
}
