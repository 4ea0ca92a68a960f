/** Performs what the provisioner's plans ask for beside the writes that every component makes. */
import type { CodedEvent, CodedMessage } from "../../api/plan.ts";
import type { KubeObject, PersistentVolumeClaim } from "../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import { Fault, isFault, isFinal } from "../../base/fault.ts";
import type { Log } from "../../base/log.ts";
import { createLru } from "../../base/lru.ts";
import { isSameError } from "../../base/same-error.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import { withCode } from "../../errors/codes.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { GrantFrom, GrantTo } from "../../rules/reference-grant.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../runtime/csi-calls.ts";
import { isCallError } from "../../runtime/reply-cache.ts";
import type { AttributesReader } from "./claims/attributes-reader.ts";
import type { ConsentCheck } from "./consent/consent.ts";
import { hasRoom, type Rpc, rpcs, sendCall } from "./driver/act.ts";
import type { VolumeCall } from "./driver/call.ts";
import type { Remembered } from "./driver/remembered.ts";
import {
  type IntentAction,
  isRefusal,
  type LogAction,
  type ProvisionerAction,
  type VolumeTarget,
} from "./plan-steps.ts";
import type { SnapshotReader } from "./sources/snapshot-reader.ts";
import { type SourceObject, sourcesOf } from "./sources/source.ts";
import type { SourceProtection } from "./sources/source-protection.ts";
import type { IntentLog } from "./stored-calls/intent-log.ts";
import type { VolumeAnswer } from "./volumes/observe.ts";
import type { UnconfirmedClaims } from "./volumes/unconfirmed-claims.ts";

type ActionOf<K extends ProvisionerAction["kind"]> = Extract<ProvisionerAction, { readonly kind: K }>;
type Call = ActionOf<"csi">["call"];

export interface HandlerOptions {
  readonly api: KubeApi;
  readonly csi: CsiClient;
  readonly world: World;
  readonly log: Log;
  readonly cluster: ActionHandlers<Extract<ProvisionerAction, { kind: keyof ClusterHandlers }>>;
  readonly intents: IntentLog;
  readonly remembered: Remembered;
  readonly protection: SourceProtection;
  readonly unconfirmed: Pick<UnconfirmedClaims, "confirmed">;
  /** A PersistentVolume is stored in its turn, and is not deleted meanwhile. */
  storing(name: string, store: () => Promise<void>): Promise<void>;
  readonly reader: Pick<SnapshotReader, "read" | "forget">;
  /** Asked right before CreateVolume is sent. */
  readonly isConsented: ConsentCheck;
  /** Whether the owner of a source still lets the user of a claim know of it. */
  mayTell(from: GrantFrom, to: GrantTo, signal: AbortSignal): Promise<boolean>;
  readonly attributes: Pick<AttributesReader, "read">;
  readonly callsAtOnce: number;
  leading(): boolean;
  stopping(): boolean;
  /** Whether the target of a call is still there. */
  exists(target: VolumeTarget): boolean;
  claimOf(volumeName: string): PersistentVolumeClaim | undefined;
  isStored(volumeName: string): boolean;
  triggerVolume(key: Key, afterMs?: Millis): void;
  triggerStored(key: Key): void;
  /** A source may be free now, or has been read. */
  triggerSource(source: SourceObject, afterMs?: Millis): void;
  /** A VolumeAttributesClass was read. */
  triggerAttributes(name: string): void;
  /** Told of each claim that is denied its source, once for each reason. */
  denied(about: KubeObject): void;
  /** Told of each attempt that failed. */
  failed(rpc: Rpc, target: VolumeTarget): void;
  count(what: "created" | "deleted", about: KubeObject, tookMs: Millis): void;
  record(about: KubeObject, event: CodedEvent): void;
}

interface ClusterHandlers {
  create: unknown;
  patch: unknown;
  replace: unknown;
  delete: unknown;
  confirm: unknown;
  relist: unknown;
  event: unknown;
}

/** Errors that were reported, by object: a repetition costs no event. */
const reportedMax = 10_000;
/** A finalizer stays for a moment: in a burst the next restore of the same snapshot is not far. */
const lingerMs: Millis = 2_000;

export function createProvisionerHandlers(options: HandlerOptions): ActionHandlers<ProvisionerAction> {
  const { cluster, intents, remembered, protection, storing, leading, log } = options;
  const reported = createLru<string>(reportedMax);

  const isReported = (about: KubeObject, message: CodedMessage): boolean => {
    const before = reported.get(about.metadata.uid);
    return !leading() || (before !== undefined && isSameError(before, message));
  };
  const report = (about: KubeObject, reason: string, message: CodedMessage): void => {
    if (isReported(about, message)) return;
    reported.set(about.metadata.uid, message);
    options.record(about, { type: "Warning", reason, message });
  };
  /** Whatever the call was made from may be free when it is gone. */
  const freeing = <T>(name: string, remove: () => T): T => {
    const sources = sourcesOf(intents.get(name));
    const removed = remove();
    for (const source of sources) options.triggerSource(source, lingerMs);
    return removed;
  };
  const removeIntent = (name: string): void => freeing(name, () => intents.remove(name));
  const settleIntent: ActionHandlers<LogAction>["settleIntent"] = ({ name }, signal) =>
    freeing(name, () => intents.settle(name, signal));
  const logIntent: ActionHandlers<LogAction>["logIntent"] = ({ name, intent, from }, signal) =>
    intents.add(name, intent, signal, from);

  const publishing: ActionHandlers<LogAction>["publishing"] = ({ name, id }, signal) =>
    intents.publishing(name, id, signal);

  const csi = createCsi(options, { settleIntent, logIntent, publishing });
  return {
    ...cluster,
    create: async (action, signal) => {
      try {
        await storing(action.ref.name, () => cluster.create(action, signal));
      } catch (reason) {
        const claim = action.ref.kind === "PersistentVolume" ? options.claimOf(action.ref.name) : undefined;
        if (claim !== undefined && isFault(reason) && isFinal(reason) && !isFault(reason, "Conflict")) {
          report(claim, "ProvisioningFailed", unstorable(action.ref.name, reason));
          // The next reply may make a better one of it.
          remembered.forgetReply(action.ref.name);
        }
        throw reason;
      }
    },
    csi: async (action, signal) => {
      remembered.sending(action.about, action.call);
      if (action.call.method === "create" && action.call.consent !== undefined) {
        const { namespace, name } = action.call.consent.to;
        options.reader.forget(keyIn(namespace, name), action.call.name);
      }
      const sources = action.intent.flatMap((write) => (write.kind === "protectSource" ? [write.source] : []));
      const held = sources.map((source) => protection.hold(source));
      try {
        await csi(action, signal);
      } finally {
        for (const release of held) release();
        // What was protected for a call that could not be stored is needed by nobody.
        for (const source of sources) options.triggerSource(source, lingerMs);
      }
    },
    settleIntent,
    logIntent: async (action, signal) => {
      const sources = sourcesOf(intents.get(action.name));
      await logIntent(action, signal);
      // What the call names no more may be free.
      for (const source of sources) options.triggerSource(source, lingerMs);
    },
    readSnapshot: async ({ key, attempt }, signal) => {
      await options.reader.read(key, signal, attempt);
      if (attempt === undefined) options.triggerSource({ kind: "snapshot", key });
      else options.triggerVolume(keyIn(undefined, attempt));
    },
    readAttributes: async ({ name }, signal) => {
      await options.attributes.read(name, signal);
      options.triggerAttributes(name);
    },
    forgetIntent: async ({ name, forgetsReply }) => {
      removeIntent(name);
      if (forgetsReply) remembered.forgetReply(name);
      if (options.isStored(name) || options.claimOf(name) === undefined) remembered.forget(name);
      // The claim may be served again: its source was granted while the call was given up.
      else options.triggerVolume(keyIn(undefined, name));
    },
    pause: async ({ name, forgetsIntent }) => {
      if (forgetsIntent) removeIntent(name);
      options.triggerVolume(keyIn(undefined, name), remembered.pause(name));
    },
    forgetStray: async ({ name }) => remembered.forgetStray(name),
    delayTaking: async ({ name }) => options.triggerVolume(keyIn(undefined, name), remembered.delayTaking(name)),
    take: async ({ name, claim, call }, signal) => {
      try {
        if (call !== undefined && !(await hasRoom(options.csi, call, signal)))
          return options.triggerVolume(keyIn(undefined, name), remembered.delayTaking(name));
        await cluster.replace(claim, signal);
        remembered.taken(name);
      } catch (reason) {
        // Another node was quicker, or the claim has changed otherwise.
        if (!isFault(reason, "Conflict")) throw reason;
        options.triggerVolume(keyIn(undefined, name), remembered.delayTaking(name));
      }
    },
    publishing,
    unprotectSource: ({ source }, signal) => protection.unprotect(source, signal),
    reportError: async ({ about, reason, message, consent, isFailure }, signal) => {
      if (isReported(about, message)) return;
      if (isFailure === true) options.denied(about);
      const isTold = consent === undefined || (await options.mayTell(consent.from, consent.to, signal));
      report(about, reason, isTold ? message : consent.otherwise);
    },
    reportCall: async ({ about, reason, message, volume }) => {
      if (!leading()) return;
      log.error("a stored CreateVolume call is not carried out", { volume, reason, message });
      options.record(about, { type: "Warning", reason, message });
    },
    count: async ({ what, about, uid }) => options.count(what, about, remembered.tookMs(uid)),
  };
}

const unstorable = (name: string, { message }: Fault): CodedMessage =>
  withCode(
    `PersistentVolume ${name} cannot be stored: ${JSON.stringify(message)}; the volume is kept meanwhile`,
    "SNAP-345",
  );

function createCsi(
  options: HandlerOptions,
  writes: Pick<ActionHandlers<LogAction>, "settleIntent" | "logIntent" | "publishing">,
) {
  const { api, csi, world, log, cluster, intents, remembered, protection } = options;
  const { replies } = remembered;
  const isConsented: ConsentCheck = async (call, consent, signal) => {
    try {
      return await options.isConsented(call, consent, signal);
    } catch (reason) {
      if (signal.aborted) throw reason;
      log.info("consent to the use of a source cannot be read, and counts as denied", {
        volume: call.name,
        reason: Fault.from(reason).message,
      });
      return false;
    }
  };
  const send = async (call: Call, secrets: Record<string, string>, signal: AbortSignal): Promise<VolumeAnswer> => {
    if (call.method === "create" && call.consent !== undefined && !(await isConsented(call, call.consent, signal)))
      return { kind: "denied" };
    const refused = call.method === "delete" ? () => undefined : intents.sending(call.name);
    try {
      return await sendCall(csi, call as VolumeCall, secrets, signal);
    } catch (reason) {
      const fault = Fault.from(reason);
      if (isFault(fault, "AlreadyExists")) refused("exists");
      else if (isRefusal(fault)) refused();
      throw reason;
    }
  };
  return createCsiCallHandler<VolumeTarget, Call, VolumeAnswer, Rpc, IntentAction>({
    api,
    intentHandlers: {
      ...cluster,
      confirm: async (action, signal) => {
        await cluster.confirm(action, signal);
        if (action.ref.kind === "PersistentVolumeClaim") options.unconfirmed.confirmed(action.ref.uid ?? "");
      },
      protectSource: ({ source, isRequired }, signal) => protection.protect(source, signal, isRequired),
      ...writes,
      requireIntent: async ({ name }) => {
        if (intents.get(name) === undefined)
          throw new Fault("Conflict", `the call of ${name} was settled when its volume was about to be deleted`);
      },
    },
    replies: {
      get: (uid) => replies.get(uid),
      put: (target, reply) => {
        if (isCallError(reply) || reply.kind === "denied")
          options.failed(target.goal === "delete" ? "DeleteVolume" : "CreateVolume", target);
        remembered.keep(target, reply);
      },
    },
    semaphore: createCallSemaphore(options.callsAtOnce, world),
    log,
    rpcs,
    send,
    leading: options.leading,
    stopping: options.stopping,
    exists: options.exists,
    // A name that is its own uid is that of a volume without a PersistentVolume.
    trigger: (key) => {
      options.triggerVolume(key);
      options.triggerStored(key);
    },
  });
}
