/** The snapshot-controller: three controllers over the same caches. This file connects the parts; plan*.ts decide. */
import type { CodedEvent } from "../../api/plan.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createStores, watchStores } from "../../kube/stores.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import { type ControllerObserver, createController, type Failure } from "../../runtime/controller.ts";
import { createClaimLists } from "./claim-lists.ts";
import { createMemory, type MemoryOptions } from "./memory.ts";
import {
  observeClaim,
  observeContent,
  observeSnapshot,
  type SnapshotContext,
  type SnapshotOptions,
} from "./observe.ts";
import { phaseOf } from "./phase.ts";
import { claimPhaseOf, isNeeded } from "./phase-claim.ts";
import { contentPhaseOf } from "./phase-content.ts";
import { planSnapshot } from "./plan.ts";
import { planClaim } from "./plan-claim.ts";
import { planContent } from "./plan-content.ts";
import type { SnapshotAction } from "./plan-steps.ts";
import { refusedWriteEvent } from "./refused-writes.ts";
import { allRestoredSnapshotKeys } from "./restoring.ts";
import {
  claimOf,
  claimTriggers,
  contentTriggers,
  type SnapshotStores,
  snapshotTriggers,
  storeTable,
} from "./triggers.ts";

export interface SnapshotPlans {
  readonly snapshot: typeof planSnapshot;
  readonly claim: typeof planClaim;
  readonly content: typeof planContent;
}

export interface SnapshotControllerDeps {
  readonly api: KubeApi;
  readonly world: World;
  readonly log: Log;
  readonly options: SnapshotOptions;
  readonly workers: number;
  readonly backoff: Backoff;
  readonly resyncMs?: Millis | undefined;
  readonly leading?: (() => boolean) | undefined;
  readonly activeSidecars?: MemoryOptions["activeSidecars"];
  readonly protectionOf?: MemoryOptions["protectionOf"];
  /** Other decisions than ours: the simulation shows that it detects wrong ones. */
  readonly plans?: Partial<SnapshotPlans> | undefined;
  /** With node-local sidecars: calls back when a volume may be reached from another node than before. */
  readonly onPlacesChange?: ((listener: () => void) => void) | undefined;
  /** With ReferenceGrants: calls back when the grants of a namespace have changed. */
  readonly onGrantsChange?: ((listener: (namespace: string) => void) => void) | undefined;
  /** With VolumeSnapshotLinks: calls back with the snapshot that a link points at, when the link comes or goes. */
  readonly onLinksChange?: ((listener: (snapshot: Key) => void) => void) | undefined;
  /** Called for each failed reconcile of this object. */
  failed?(kind: "VolumeSnapshot" | "PersistentVolumeClaim" | "VolumeSnapshotContent", key: Key): void;
  record(about: KubeObject, event: CodedEvent): void;
  observer?(queue: string): ControllerObserver;
}

export interface SnapshotController {
  readonly stores: SnapshotStores;
  /** Keeps the caches current until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** To be called when something that no cache shows concerns the snapshot. */
  trigger(snapshot: Key): void;
}

export function createSnapshotController(deps: SnapshotControllerDeps): SnapshotController {
  const { api, world, log, options, leading } = deps;
  const stores = createStores(storeTable, log);
  const claimLists = createClaimLists({
    api,
    world,
    log,
    store: stores.PersistentVolumeClaim,
    trigger: (snapshot, afterMs) => snapshots.trigger(snapshot, afterMs),
  });
  const memory = createMemory({
    stores,
    options,
    world,
    wereClaimsReadFor: claimLists.wereReadFor,
    activeSidecars: deps.activeSidecars,
    protectionOf: deps.protectionOf,
    onProtected: (claim) => {
      for (const key of stores.VolumeSnapshot.keysBy("unreadyOf", keyOf(claim))) snapshots.trigger(key);
    },
    isNeeded: (claim) => {
      const view = observeClaim(stores, context(), keyOf(claim));
      return view !== undefined && view.memory.protection === "certain" && isNeeded(view);
    },
    onCreationEnd: (claim) => claims.trigger(keyOf(claim)),
  });
  const context = (): SnapshotContext => ({ options, memory, nowMs: world.now() });
  const handlers = memory.aroundHandlers(
    createActionHandlers({ api: memory.throughApi(api), stores, leading, record: deps.record }),
  );
  const shared = (name: string) => ({
    name,
    stores,
    handlers,
    workers: deps.workers,
    world,
    log,
    backoff: deps.backoff,
    resyncMs: deps.resyncMs,
    leading,
    observer: deps.observer?.(name),
  });
  const recordRefusedWrite = (keys: readonly Key[], failure: Failure<SnapshotAction>): void => {
    for (const key of keys) {
      const snapshot = stores.VolumeSnapshot.get(key);
      const event = snapshot && refusedWriteEvent(snapshot, failure);
      if (event !== undefined) deps.record(snapshot as KubeObject, event);
    }
  };
  const snapshots = createController({
    ...shared("snapshot-controller-snapshot"),
    handlers: { ...handlers, readClaims: claimLists.readClaims },
    triggers: snapshotTriggers,
    context,
    observe: observeSnapshot,
    phase: ({ facts }) => phaseOf(facts),
    onFailure: (key, failure) => {
      deps.failed?.("VolumeSnapshot", key);
      recordRefusedWrite([key], failure);
    },
    plan: deps.plans?.snapshot ?? planSnapshot,
  });
  const claims = createController({
    ...shared("snapshot-controller-claim"),
    triggers: claimTriggers,
    context,
    observe: observeClaim,
    phase: claimPhaseOf,
    remember: (view) => memory.noteClaim(view.facts.claim, () => isNeeded(view)),
    onFailure: (key, failure) => {
      deps.failed?.("PersistentVolumeClaim", key);
      recordRefusedWrite(stores.VolumeSnapshot.keysBy("unreadyOf", key), failure);
    },
    plan: deps.plans?.claim ?? planClaim,
  });
  const contents = createController({
    ...shared("snapshot-controller-content"),
    triggers: contentTriggers,
    context,
    observe: observeContent,
    phase: ({ facts }) => contentPhaseOf(facts),
    onFailure: (key) => deps.failed?.("VolumeSnapshotContent", key),
    plan: deps.plans?.content ?? planContent,
  });
  deps.onPlacesChange?.(() => {
    for (const snapshot of stores.VolumeSnapshot.all()) {
      if (snapshot.status?.readyToUse === true) continue;
      snapshots.trigger(keyOf(snapshot));
      for (const claim of claimOf(snapshot)) claims.trigger(claim);
    }
  });
  deps.onGrantsChange?.((namespace) => {
    for (const { metadata } of stores.VolumeSnapshot.all())
      if (metadata.namespace === namespace && metadata.deletionTimestamp !== undefined)
        snapshots.trigger(keyIn(namespace, metadata.name));
  });
  deps.onLinksChange?.((snapshot) => snapshots.trigger(snapshot));
  if (options.links !== undefined)
    stores.PersistentVolumeClaim.onChange((before, after) => {
      const claim = after ?? before;
      for (const key of claim === undefined ? [] : allRestoredSnapshotKeys(options, claim)) snapshots.trigger(key);
    });
  return {
    stores,
    watch: (signal) => watchStores(api, storeTable, stores, { world, log, signal }),
    run: async (signal) => {
      await Promise.all([snapshots, claims, contents].map((controller) => controller.run(signal)));
    },
    trigger: (snapshot) => snapshots.trigger(snapshot),
  };
}
