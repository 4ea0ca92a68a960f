/** Sends the calls that plans ask for. The sources of a call are held until it has ended, and looked at again then. */
import type { ClusterAction } from "../../../api/plan.ts";
import { keyIn } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { CsiClient } from "../../../csi/client.ts";
import type { KubeApi } from "../../../kube/api.ts";
import type { ActionHandlers } from "../../../runtime/action-handlers.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../../runtime/csi-calls.ts";
import { isCallError } from "../../../runtime/reply-cache.ts";
import type { ConsentCheck } from "../consent/consent.ts";
import { nameInKey, volumeName } from "../identity.ts";
import type { LookAgain } from "../look-again.ts";
import type { CallAction, IntentAction } from "../plan-steps.ts";
import type { SnapshotReader } from "../sources/snapshot-reader.ts";
import type { SourceProtection } from "../sources/source-protection.ts";
import type { IntentWrites } from "../stored-calls/handlers.ts";
import type { IntentLog } from "../stored-calls/intent-log.ts";
import type { UnconfirmedClaims } from "../volumes/unconfirmed-claims.ts";
import { type Rpc, rpcs, sendCall } from "./act.ts";
import type { VolumeAnswer, VolumeCall } from "./call.ts";
import { refusalOf } from "./refusals.ts";
import type { Remembered } from "./remembered.ts";
import type { VolumeTarget } from "./target.ts";

export interface CallParts {
  readonly api: KubeApi;
  readonly csi: CsiClient;
  readonly world: World;
  readonly log: Log;
  readonly callsAtOnce: number;
  readonly cluster: ActionHandlers<ClusterAction>;
  readonly beforeCalls: IntentWrites;
  readonly intents: Pick<IntentLog, "sending">;
  readonly remembered: Remembered;
  readonly protection: Pick<SourceProtection, "hold" | "protect">;
  readonly unconfirmed: Pick<UnconfirmedClaims, "confirmed">;
  readonly snapshots: Pick<SnapshotReader, "forget">;
  /** Asked right before CreateVolume is sent. */
  readonly isConsented: ConsentCheck;
  readonly lookAgain: Pick<LookAgain, "either" | "freed">;
  leading(): boolean;
  stopping(): boolean;
  /** Whether the target of a call is still there. */
  exists(target: VolumeTarget): boolean;
  /** Told of each attempt that failed. */
  failed(rpc: Rpc, target: VolumeTarget): void;
}

export function createCallHandler(parts: CallParts): ActionHandlers<CallAction>["csi"] {
  const { remembered, protection, snapshots, lookAgain } = parts;
  const send = createSender(parts);
  return async (action, signal) => {
    remembered.sending(action.about, action.call);
    if (action.call.method === "create" && action.call.consent !== undefined) {
      const { namespace, name } = action.call.consent.to;
      snapshots.forget(keyIn(namespace, name), volumeName(action.call.name));
    }
    const sources = action.intent.flatMap((write) => (write.kind === "protectSource" ? [write.source] : []));
    const held = sources.map((source) => protection.hold(source));
    try {
      await send(action, signal);
    } finally {
      for (const release of held) release();
      // What was protected for a call that could not be stored is needed by nobody.
      lookAgain.freed(sources);
    }
  };
}

type Call = CallAction["call"];

function createSender(parts: CallParts): ActionHandlers<CallAction>["csi"] {
  const { api, csi, world, log, intents, remembered, unconfirmed, cluster } = parts;
  const send = async (call: Call, secrets: Record<string, string>, signal: AbortSignal): Promise<VolumeAnswer> => {
    const { isConsented } = parts;
    if (call.method === "create" && call.consent !== undefined && !(await isConsented(call, call.consent, signal)))
      return { kind: "denied" };
    const refused = call.method === "delete" ? undefined : intents.sending(volumeName(call.name));
    try {
      return await sendCall(csi, call as VolumeCall, secrets, signal);
    } catch (reason) {
      const fault = Fault.from(reason);
      const says = refusalOf(fault);
      if (says === "exists") refused?.("exists");
      else if (says === "refused") refused?.();
      throw reason;
    }
  };
  return createCsiCallHandler<VolumeTarget, Call, VolumeAnswer, Rpc, IntentAction>({
    api,
    intentHandlers: {
      ...cluster,
      confirm: async (action, signal) => {
        await cluster.confirm(action, signal);
        if (action.ref.kind === "PersistentVolumeClaim") unconfirmed.confirmed(action.ref.uid ?? "");
      },
      protectSource: ({ source, isRequired }, signal) => parts.protection.protect(source, signal, isRequired),
      ...parts.beforeCalls,
    },
    replies: {
      get: (uid) => remembered.replies.get(uid),
      put: (target, reply) => {
        if (isCallError(reply) || reply.kind === "denied")
          parts.failed(target.goal === "delete" ? "DeleteVolume" : "CreateVolume", target);
        remembered.keep(target, reply);
      },
    },
    semaphore: createCallSemaphore(parts.callsAtOnce, world),
    log,
    rpcs,
    send,
    leading: parts.leading,
    stopping: parts.stopping,
    exists: parts.exists,
    trigger: (key) => parts.lookAgain.either(nameInKey(key)),
  });
}
