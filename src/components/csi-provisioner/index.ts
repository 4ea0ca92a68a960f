/** The csi-provisioner sidecar: one controller over volumes to create, one over stored volumes. This file only wires. */
import type { CodedEvent } from "../../api/plan.ts";
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import { createLru } from "../../base/lru.ts";
import { isSameError } from "../../base/same-error.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { OptionalStore } from "../../kube/optional-store.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../kube/stores.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import { createController, type Triggers } from "../../runtime/controller.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../runtime/csi-calls.ts";
import type { QueueObserver } from "../../runtime/queue.ts";
import { createReplyCache } from "../../runtime/reply-cache.ts";
import { type Rpc, rpcs, sendCall } from "./act.ts";
import { classNameOf, sourceOf, volumeNameFor } from "./claim.ts";
import { createIntentLog } from "./intent-log.ts";
import { observeStoredVolume, observeVolume, type VolumeAnswer, type VolumeMemory } from "./observe.ts";
import { planVolume } from "./plan.ts";
import type { IntentAction, ProvisionerAction, VolumeTarget } from "./plan-steps.ts";
import { planStored } from "./plan-stored.ts";
import type { DriverFacts, ProvisionerOptions } from "./prepare.ts";
import { createSnapshotReader } from "./snapshot-reader.ts";

const tableFor = (options: ProvisionerOptions) =>
  ({
    PersistentVolumeClaim: {
      indexes: {
        volume: ({ metadata }: PersistentVolumeClaim) => volumeNameFor(options, metadata.uid),
        class: (claim: PersistentVolumeClaim) => (claim.spec?.volumeName ? undefined : classNameOf(claim)),
        source: (claim: PersistentVolumeClaim) => sourceKeyOf(claim),
      },
    },
    PersistentVolume: {},
    StorageClass: {},
    Node: {},
    CSINode: {},
    VolumeAttachment: {
      indexes: {
        volume: ({ spec }: { readonly spec?: { readonly source?: { readonly persistentVolumeName?: string } } }) =>
          spec?.source?.persistentVolumeName,
      },
    },
  }) as const satisfies StoreTable;
type ProvisionerStores = StoresOf<ReturnType<typeof tableFor>>;

/** Of a claim that has no volume yet: "kind namespace/name". */
const sourceKeyOf = (claim: PersistentVolumeClaim): string | undefined => {
  const source = sourceOf(claim);
  return claim.spec?.volumeName || (source.kind !== "snapshot" && source.kind !== "claim")
    ? undefined
    : `${source.kind} ${keyIn(source.namespace, source.name)}`;
};

export interface CsiProvisionerDeps {
  readonly api: KubeApi;
  readonly csi: CsiClient;
  /** Asked at each look: a driver may restart as another version. */
  driver(): DriverFacts;
  readonly options: ProvisionerOptions;
  /** VolumeSnapshots, where they are served and may be watched. */
  readonly snapshots: Pick<OptionalStore<"VolumeSnapshot">, "current" | "onChange">;
  /** Where CreateVolume calls are stored before they are sent. */
  readonly intents: { readonly namespace: string; readonly name: string };
  /** Of this process, written into volumeAttributes. */
  readonly identity: string;
  readonly world: World;
  readonly log: Log;
  readonly callsAtOnce: number;
  readonly backoff: Backoff;
  readonly resyncMs?: Millis | undefined;
  leading(): boolean;
  /** Other decisions than ours: the simulation shows that it notices wrong ones. */
  readonly plans?: Partial<{ readonly volume: typeof planVolume; readonly stored: typeof planStored }> | undefined;
  /** Called for each attempt that failed. */
  failed?(rpc: Rpc, about: KubeObject | undefined): void;
  count?(what: "created" | "deleted", about: KubeObject): void;
  record(about: KubeObject, event: CodedEvent): void;
  observer?(queue: string): QueueObserver;
}

export interface CsiProvisioner {
  readonly stores: ProvisionerStores;
  /** Keeps the caches current until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** To be called when the driver's capabilities have changed: everything is looked at again. */
  factsChanged(): void;
}

/** Volumes looked at while others wait for the driver: waiting costs nothing. */
const volumesAtOnce = 1_000;
/** Errors that were reported, by object: a repetition costs no event. */
const reportedMax = 10_000;

export function createCsiProvisioner(deps: CsiProvisionerDeps): CsiProvisioner {
  const { api, csi, driver, options, world, log, leading, snapshots } = deps;
  const table = tableFor(options);
  const stores = createStores(table, log);
  const intents = createIntentLog({ api, log, ...deps.intents });
  const reader = createSnapshotReader({ api, world, cached: snapshots.current });
  const replies = createReplyCache<VolumeTarget, VolumeAnswer, VolumeTarget["goal"]>({
    world,
    backoff: deps.backoff,
    poll: deps.backoff,
    goalOf: ({ goal }) => goal,
    // A volume that was deleted because it could not be used is asked for again, after a pause.
    validityOf: (target, { kind }) =>
      kind === "deleted" && target.metadata.uid === target.metadata.name ? "until retry" : "for good",
  });
  const reported = createLru<string>(reportedMax);
  const cluster = createActionHandlers({ api, stores, leading, record: deps.record });
  let stopSignal: AbortSignal | undefined;

  const memoryOf = (uid: string): VolumeMemory => {
    const cached = replies.get(uid);
    const replyLeftMs = (cached?.expiresAtMs ?? 0) - world.elapsed();
    const counts = cached !== undefined && replyLeftMs > 0;
    return {
      reply: counts ? cached.reply : { kind: "none" },
      isUndoing: counts && cached.goal === "delete",
      replyLeftMs: Math.max(replyLeftMs, 0),
      identity: deps.identity,
      watchesSnapshots: snapshots.current() !== undefined,
    };
  };
  const around = () => ({
    stores,
    driver: driver(),
    options,
    intentOf: intents.get,
    snapshotPair: reader.pair,
  });
  const forget = (name: string): void => {
    intents.remove(name);
    const isWanted = stores.PersistentVolumeClaim.by("volume", name).length > 0;
    const isStored = stores.PersistentVolume.get(keyIn(undefined, name)) !== undefined;
    if (isStored || !isWanted) replies.forget(name);
  };
  const intentHandlers = {
    ...cluster,
    logIntent: ({ name, intent }: Extract<IntentAction, { kind: "logIntent" }>, signal: AbortSignal) =>
      intents.add(name, intent, signal),
    settleIntent: ({ name }: Extract<IntentAction, { kind: "settleIntent" }>, signal: AbortSignal) =>
      intents.settle(name, signal),
  };
  const semaphore = createCallSemaphore(deps.callsAtOnce, world);
  const csiHandler = (trigger: (key: Key) => void, exists: (target: VolumeTarget) => boolean) =>
    createCsiCallHandler<
      VolumeTarget,
      Extract<ProvisionerAction, { kind: "csi" }>["call"],
      VolumeAnswer,
      Rpc,
      IntentAction
    >({
      api,
      intentHandlers,
      replies,
      semaphore,
      log,
      rpcs,
      send: (call, secrets, signal) => sendCall(csi, call, secrets, signal),
      leading,
      stopping: () => stopSignal?.aborted === true,
      exists,
      trigger,
      onFailure: (rpc) => deps.failed?.(rpc, undefined),
    });
  const handlers = (csiCalls: ReturnType<typeof csiHandler>, trigger: (key: Key) => void) => ({
    ...cluster,
    csi: csiCalls,
    readSnapshot: async ({ key }: Extract<ProvisionerAction, { kind: "readSnapshot" }>, signal: AbortSignal) => {
      await reader.read(key, signal);
      for (const claim of stores.PersistentVolumeClaim.by("source", `snapshot ${key}`)) trigger(volumeKeyOf(claim));
    },
    forgetIntent: async ({ name }: Extract<ProvisionerAction, { kind: "forgetIntent" }>) => forget(name),
    reportError: async ({ about, reason, message }: Extract<ProvisionerAction, { kind: "reportError" }>) => {
      const before = reported.get(about.metadata.uid);
      if (!leading() || (before !== undefined && isSameError(before, message))) return;
      reported.set(about.metadata.uid, message);
      deps.record(about, { type: "Warning", reason, message });
    },
    count: async ({ what, about }: Extract<ProvisionerAction, { kind: "count" }>) => deps.count?.(what, about),
  });
  const volumeKeyOf = ({ metadata }: PersistentVolumeClaim): Key =>
    keyIn(undefined, volumeNameFor(options, metadata.uid));

  const claimKeys = (claims: readonly PersistentVolumeClaim[]): readonly Key[] => claims.map(volumeKeyOf);
  const volumeTriggers: Triggers<ProvisionerStores> = {
    PersistentVolumeClaim: (claim, seen) => [
      volumeKeyOf(claim),
      ...claimKeys(seen.PersistentVolumeClaim.by("source", `claim ${keyOf(claim)}`)),
    ],
    PersistentVolume: ({ metadata }) => [keyIn(undefined, metadata.name)],
    StorageClass: ({ metadata }, seen) => claimKeys(seen.PersistentVolumeClaim.by("class", metadata.name)),
  };
  const storedTriggers: Triggers<ProvisionerStores> = {
    PersistentVolume: ({ metadata }) => [keyIn(undefined, metadata.name)],
    VolumeAttachment: ({ spec }) =>
      spec?.source?.persistentVolumeName ? [keyIn(undefined, spec.source.persistentVolumeName)] : [],
  };

  const shared = (name: string) => ({
    name,
    stores,
    workers: volumesAtOnce,
    world,
    log,
    backoff: deps.backoff,
    resyncMs: deps.resyncMs,
    leading,
    observer: deps.observer?.(name),
  });
  const triggerVolume = (key: Key): void => volumes.trigger(key);
  const volumes = createController({
    ...shared("csi-provisioner-claim"),
    triggers: volumeTriggers,
    observe: (_seen, key) => observeVolume(around(), key, memoryOf(String(key))),
    plan: deps.plans?.volume ?? planVolume,
    handlers: handlers(
      csiHandler(triggerVolume, () => true),
      triggerVolume,
    ),
    onFailure: (key) => deps.failed?.("CreateVolume", stores.PersistentVolumeClaim.by("volume", String(key))[0]),
  });
  const triggerStored = (key: Key): void => stored.trigger(key);
  const stored = createController({
    ...shared("csi-provisioner-volume"),
    triggers: storedTriggers,
    observe: (_seen, key) => observeStoredVolume(around(), key, ({ metadata }) => memoryOf(metadata.uid)),
    plan: deps.plans?.stored ?? planStored,
    handlers: handlers(
      csiHandler(triggerStored, ({ metadata }) => {
        const known = stores.PersistentVolume.get(keyIn(undefined, metadata.name)) as PersistentVolume | undefined;
        return known?.metadata.uid === metadata.uid;
      }),
      triggerStored,
    ),
    onFailure: (key) => deps.failed?.("DeleteVolume", stores.PersistentVolume.get(key)),
  });

  stores.PersistentVolume.onChange((before, after) => {
    if (before !== undefined && after === undefined) replies.forget(before.metadata.uid);
    if (after !== undefined) replies.forget(after.metadata.name);
  });
  stores.PersistentVolumeClaim.onChange((before, after) => {
    if (before === undefined || after !== undefined) return;
    const name = volumeNameFor(options, before.metadata.uid);
    if (intents.get(name) === undefined) replies.forget(name);
  });
  snapshots.onChange((before, after) => {
    const snapshot = after ?? before;
    if (snapshot === undefined) return;
    for (const claim of stores.PersistentVolumeClaim.by("source", `snapshot ${keyOf(snapshot)}`))
      triggerVolume(volumeKeyOf(claim));
  });

  return {
    stores,
    watch: (signal) => watchStores(api, table, stores, { world, log, signal }),
    run: async (signal) => {
      stopSignal = signal;
      await intents.load(signal).catch((reason: unknown) => {
        if (!signal.aborted) throw reason;
      });
      for (const [name] of intents.all()) volumes.trigger(keyIn(undefined, name));
      await Promise.all([volumes, stored].map((controller) => controller.run(signal)));
    },
    factsChanged: () => {
      volumes.resync();
      stored.resync();
    },
  };
}
