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
import type { KubeApi } from "../../kube/api.ts";
import { withCode } from "../../rules/error-codes.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../runtime/csi-calls.ts";
import { isCallError } from "../../runtime/reply-cache.ts";
import { type Rpc, rpcs, sendCall } from "./act.ts";
import type { AttributesReader } from "./attributes-reader.ts";
import type { VolumeCall } from "./call.ts";
import type { IntentLog } from "./intent-log.ts";
import type { VolumeAnswer } from "./observe.ts";
import type { IntentAction, ProvisionerAction, VolumeTarget } from "./plan-steps.ts";
import type { Remembered } from "./remembered.ts";
import type { SnapshotReader } from "./snapshot-reader.ts";
import { type SourceObject, sourcesOf } from "./source.ts";
import type { SourceProtection } from "./source-protection.ts";

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
  readonly reader: Pick<SnapshotReader, "read">;
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
  const { cluster, intents, remembered, protection, leading } = options;
  const reported = createLru<string>(reportedMax);

  const report = (about: KubeObject, reason: string, message: CodedMessage): void => {
    const before = reported.get(about.metadata.uid);
    if (!leading() || (before !== undefined && isSameError(before, message))) return;
    reported.set(about.metadata.uid, message);
    options.record(about, { type: "Warning", reason, message });
  };
  const removeIntent = (name: string): void => {
    const intent = intents.get(name);
    intents.remove(name);
    for (const source of sourcesOf(intent)) options.triggerSource(source, lingerMs);
  };

  const csi = createCsi(options);
  return {
    ...cluster,
    create: async (action, signal) => {
      try {
        await cluster.create(action, signal);
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
      const held = action.intent.flatMap((write) =>
        write.kind === "protectSource" ? [protection.hold(write.source)] : [],
      );
      try {
        await csi(action, signal);
      } finally {
        for (const release of held) release();
      }
    },
    settleIntent: ({ name }, signal) => intents.settle(name, signal),
    readSnapshot: async ({ key }, signal) => {
      await options.reader.read(key, signal);
      options.triggerSource({ kind: "snapshot", key });
    },
    readAttributes: async ({ name }, signal) => {
      await options.attributes.read(name, signal);
      options.triggerAttributes(name);
    },
    forgetIntent: async ({ name }) => {
      removeIntent(name);
      if (options.isStored(name) || options.claimOf(name) === undefined) remembered.forget(name);
    },
    pause: async ({ name, forgetsIntent }) => {
      if (forgetsIntent) removeIntent(name);
      options.triggerVolume(keyIn(undefined, name), remembered.pause(name));
    },
    unprotectSource: ({ source }, signal) => protection.unprotect(source, signal),
    reportError: async ({ about, reason, message }) => report(about, reason, message),
    count: async ({ what, about, uid }) => options.count(what, about, remembered.tookMs(uid)),
  };
}

const unstorable = (name: string, { message }: Fault): CodedMessage =>
  withCode(
    `PersistentVolume ${name} cannot be stored: ${JSON.stringify(message)}; the volume is kept meanwhile`,
    "SNAP-345",
  );

function createCsi(options: HandlerOptions) {
  const { api, csi, world, log, cluster, intents, remembered, protection } = options;
  const { replies } = remembered;
  const send = async (call: Call, secrets: Record<string, string>, signal: AbortSignal): Promise<VolumeAnswer> => {
    const refused = call.method === "create" ? intents.sending(call.name) : () => undefined;
    try {
      return await sendCall(csi, call as VolumeCall, secrets, signal);
    } catch (reason) {
      const fault = Fault.from(reason);
      if (isFinal(fault) || isFault(fault, "ResourceExhausted")) refused();
      throw reason;
    }
  };
  return createCsiCallHandler<VolumeTarget, Call, VolumeAnswer, Rpc, IntentAction>({
    api,
    intentHandlers: {
      ...cluster,
      protectSource: ({ source }, signal) => protection.protect(source, signal),
      logIntent: ({ name, intent }, signal) => intents.add(name, intent, signal),
      settleIntent: ({ name }, signal) => intents.settle(name, signal),
    },
    replies: {
      get: (uid) => replies.get(uid),
      put: (target, reply) => {
        if (isCallError(reply)) options.failed(target.goal === "create" ? "CreateVolume" : "DeleteVolume", target);
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
