/**
 * Performs the CSI calls that plans ask for. Every outcome, a reply or a fault, goes to the reply cache and triggers its object; the
 * next plan decides what it means. The order of one call:
 *
 *   1. read the secret     an unreadable secret must leave no intent behind, or the object could never be deleted
 *   2. write the intent    a successor must find out that the call may have been sent
 *   3. wait for a slot     a bounded number of calls is in flight; a hanging call gives up its slot
 *   4. call the driver     unless the lease is lost or the process stops
 *   5. keep the reply      unless the object is gone
 *
 * Secrets are read for each call and never kept.
 */
import type { ClusterAction } from "../api/plan.ts";
import { keyOf } from "../api/types.ts";
import type { Key } from "../base/brand.ts";
import { Fault, isFault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { KubeApi } from "../kube/api.ts";
import type { SecretRef } from "../rules/secret-template.ts";
import { type ActionHandler, type ActionHandlers, notLeading, perform } from "./action-handlers.ts";
import { type CallTarget, type CsiReply, isCallError, type ReplyCache } from "./reply-cache.ts";
import { createSemaphore, type Semaphore, type SlotRequest } from "./semaphore.ts";

/** A component's call: its own fields, and what the machinery needs. */
export interface PlannedCall {
  readonly method: string;
  readonly secret: SecretRef | undefined;
}

/** A call to the driver, as part of a plan. `Intent` adds a component's own ways to store an intent to the writes of the cluster. */
export interface CsiCallAction<
  Target extends CallTarget,
  Call extends PlannedCall,
  Intent extends { readonly kind: string } = ClusterAction,
> {
  readonly kind: "csi";
  readonly about: Target;
  readonly call: Call;
  /** Performed, in order, before the call is sent. If one fails, the call is not sent. */
  readonly intent: readonly Intent[];
}

export type Secrets = Record<string, string>;

export interface CsiCallOptions<
  Target extends CallTarget,
  Call extends PlannedCall,
  Answer extends { readonly kind: string },
  Rpc extends string,
  Intent extends { readonly kind: string },
> {
  readonly api: Pick<KubeApi, "get">;
  readonly intentHandlers: ActionHandlers<Intent>;
  readonly replies: Pick<ReplyCache<Target, Answer, string>, "get" | "put">;
  readonly semaphore: Semaphore;
  readonly log: Log;
  /** The CSI name of each method, for logs and metrics. */
  readonly rpcs: Readonly<Record<Call["method"], Rpc>>;
  /** Sends one call and reads its reply. It throws what the driver refuses and what cannot be read. */
  send(call: Call, secrets: Secrets, signal: AbortSignal): Promise<Answer>;
  /** Called when the secret is read and the intent is not written yet. */
  beforeIntent?(action: CsiCallAction<Target, Call, Intent>): void;
  leading(): boolean;
  /** Whether the process stops: calls that wait for a slot are then left to the successor. */
  stopping?(): boolean;
  /** Whether the target still exists: the reply about one that is gone is dropped. */
  exists(target: Target): boolean;
  trigger(key: Key): void;
  /** Called for each attempt that failed, also when its secret could not be read. */
  onFailure?(rpc: Rpc): void;
}

export function createCsiCallHandler<
  Target extends CallTarget,
  Call extends PlannedCall,
  Answer extends { readonly kind: string },
  Rpc extends string,
  Intent extends { readonly kind: string } = ClusterAction,
>(options: CsiCallOptions<Target, Call, Answer, Rpc, Intent>): ActionHandler<CsiCallAction<Target, Call, Intent>> {
  const { replies, semaphore, leading, stopping = () => false } = options;
  type Action = CsiCallAction<Target, Call, Intent>;
  const rpcOf = ({ call }: Action): Rpc => options.rpcs[call.method as Call["method"]];

  const keepReply = (action: Action, reply: CsiReply<Answer>): void => {
    if (isCallError(reply)) options.onFailure?.(rpcOf(action));
    if (!options.exists(action.about)) return;
    replies.put(action.about, reply);
    options.trigger(keyOf(action.about));
  };

  const passageOf = (action: Action): SlotRequest<CsiReply<Answer>> => {
    const before = replies.get(action.about.metadata.uid)?.reply;
    return {
      method: action.call.method,
      hungBefore: before !== undefined && hasFailedWith(before, "DeadlineExceeded"),
      isAnswer: (reply) => !hasFailedWith(reply, ...unanswered),
      onHanging: () =>
        options.log.info("csi call hangs and gives up its slot", {
          method: rpcOf(action),
          key: keyOf(action.about),
        }),
    };
  };

  const send = async (call: Call, secrets: Secrets, signal: AbortSignal): Promise<CsiReply<Answer>> => {
    if (!leading()) throw notLeading();
    if (stopping()) throw new Fault("Cancelled", "stopped before the driver was called");
    try {
      return await options.send(call, secrets, signal);
    } catch (reason) {
      if (signal.aborted) throw reason;
      return { kind: "failed", fault: Fault.from(reason) };
    }
  };

  return async (action, signal) => {
    const { call, intent } = action;
    let secrets: Secrets;
    try {
      secrets = await readSecret(options.api, call.secret, signal);
    } catch (reason) {
      if (signal.aborted) throw reason;
      return keepReply(action, { kind: "unsent", fault: unreadable(call, Fault.from(reason)) });
    }
    options.beforeIntent?.(action);
    for (const write of intent) await perform(options.intentHandlers, write, signal);
    const reply = await semaphore(passageOf(action), () => send(call, secrets, signal));
    // The transport refuses to send without the lease. Such a call was not made, so it has not failed.
    if (isCallError(reply) && !leading()) throw reply.fault;
    keepReply(action, reply);
  };
}

/** A slot for each of `callsAtOnce` calls; hanging calls, up to a multiple of it, give up theirs. */
export const createCallSemaphore = (callsAtOnce: number, world: World): Semaphore =>
  createSemaphore({
    atOnceMax: callsAtOnce,
    newMax: Math.min(callsAtOnce, limits.newCallsAtOnce),
    hangingMax: callsAtOnce * limits.hangingCallsPerSlotMax,
    world,
  });

/** Faults without an answer of the driver: their duration says nothing about how long answers take. */
const unanswered = ["DeadlineExceeded", "Cancelled", "UnknownOutcome", "Unavailable"] as const;
const hasFailedWith = (reply: { readonly kind: string }, ...codes: Parameters<typeof isFault>[1][]): boolean =>
  isCallError(reply) && reply.kind === "failed" && isFault(reply.fault, ...codes);

async function readSecret(
  api: Pick<KubeApi, "get">,
  ref: SecretRef | undefined,
  signal: AbortSignal,
): Promise<Secrets> {
  if (ref === undefined) return {};
  const { namespace, name } = ref;
  const secret = await api.get({ kind: "Secret", namespace, name }, { signal });
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}

const unreadable = ({ secret }: PlannedCall, { code, message }: Fault): Fault =>
  new Fault(
    code,
    `secret ${secret?.namespace}/${secret?.name} cannot be read: ${message}; create it, or let the sidecar's role read it`,
  );
