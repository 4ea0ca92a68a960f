/** The snapshot-controller: three controllers over the same caches. This file only wires; the decisions are in plan*.ts. */
import type { ClusterAction, CodedEvent } from "../../api/plan.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createStores, watchStores } from "../../kube/stores.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import { createController, type Failure } from "../../runtime/controller.ts";
import type { QueueObserver } from "../../runtime/queue.ts";
import { type ActiveSidecars, createActiveSidecars } from "./active-sidecars.ts";
import { createClaimProtection } from "./claim-protection.ts";
import { createContentCreations } from "./content-creations.ts";
import { createDeletedSnapshots } from "./deleted-snapshots.ts";
import { createIdleTimes } from "./idle-times.ts";
import { createMissingClaims } from "./missing-claims.ts";
import { createMissingSnapshots } from "./missing-snapshots.ts";
import {
  type ClaimFacts,
  claimOfContent,
  hasFinalizer,
  type Moment,
  observeClaim,
  observeContent,
  observeSnapshot,
  type SnapshotOptions,
} from "./observe.ts";
import { planSnapshot } from "./plan.ts";
import { type ClaimView, isAwaited, isNeeded, planClaim, releaseEvidence } from "./plan-claim.ts";
import { planContent } from "./plan-content.ts";
import { refusedWriteEvent } from "./refused-writes.ts";
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
  /** Who is known to be at work: the simulation names sidecars that have not shown themselves yet. */
  readonly activeSidecars?: ActiveSidecars | undefined;
  /** Other decisions than ours: the simulation shows that it notices wrong ones. */
  readonly plans?: Partial<SnapshotPlans> | undefined;
  readonly protectionOf?: Moment["protectionOf"] | undefined;
  /** Where snapshots are taken node by node: calls back when a volume may be reached from elsewhere than before. */
  readonly onPlacesChange?: ((listener: () => void) => void) | undefined;
  /** Where claims of other namespaces may be granted a snapshot: calls back when the grants of a namespace have changed. */
  readonly onGrantsChange?: ((listener: (namespace: string) => void) => void) | undefined;
  /** Told of each run for this object that failed. */
  failed?(kind: "VolumeSnapshot" | "PersistentVolumeClaim" | "VolumeSnapshotContent", key: Key): void;
  record(about: KubeObject, event: CodedEvent): void;
  observer?(queue: string): QueueObserver;
}

export interface SnapshotController {
  readonly stores: SnapshotStores;
  /** Keeps the caches current until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createSnapshotController(deps: SnapshotControllerDeps): SnapshotController {
  const { api, world, log, options, leading } = deps;
  const stores = createStores(storeTable, log);
  const deletedSnapshots = createDeletedSnapshots();
  stores.VolumeSnapshot.onChange(deletedSnapshots.see);
  const idleTimes = createIdleTimes(world);
  stores.PersistentVolumeClaim.onChange(idleTimes.seeClaim);
  stores.VolumeSnapshotContent.onChange(idleTimes.seeContent);
  const cutters = deps.activeSidecars ?? createActiveSidecars(world);
  stores.VolumeSnapshotContent.onChange(cutters.see);
  const missingClaims = createMissingClaims();
  stores.PersistentVolumeClaim.onChange(missingClaims.see);
  const missingSnapshots = createMissingSnapshots();
  stores.VolumeSnapshot.onChange(missingSnapshots.see);
  const protection = createClaimProtection((claim) => {
    const key = keyOf(claim);
    // The watch was faster than the reply: nothing but the reply wakes those that wait for it.
    const cached = stores.PersistentVolumeClaim.get(key);
    if (cached === undefined || !hasFinalizer(cached)) return;
    for (const waiting of stores.VolumeSnapshot.keysBy("unreadyOf", key)) snapshots.trigger(waiting);
  });
  stores.PersistentVolumeClaim.onChange(protection.see);
  const protectionOf = deps.protectionOf ?? protection.of;
  const moment = (): Moment => ({
    nowMs: world.now(),
    queueIdleMs: idleTimes.standstillMs(),
    activeSidecarOf: cutters.of,
    missingClaimsOf: missingClaims.from,
    missingSnapshotsOf: missingSnapshots.of,
    protectionOf,
  });
  const timed = (sight: ClaimFacts | undefined): ClaimView | undefined => {
    if (sight === undefined) return undefined;
    const { claim } = sight;
    const needed = isNeeded(sight) || creations.isUnderWay(claim);
    return {
      claim,
      protection: sight.protection,
      isNeeded: needed,
      isAwaited: isAwaited(sight),
      evidence: needed ? [] : releaseEvidence(sight),
      idleMs: idleTimes.idleMs(claim, needed),
    };
  };
  const creations = createContentCreations({
    protectedClaimOf: (content) => {
      const claim = claimOfContent(stores, content);
      return claim !== undefined && protectionOf(claim) === "certain" ? claim : undefined;
    },
    onEnd: (claim) => claims.trigger(keyOf(claim)),
  });
  const cluster = createActionHandlers({ api: protection.through(api), stores, leading, record: deps.record });
  const handlers = {
    ...cluster,
    create: creations.around(cluster.create),
    confirm: missingSnapshots.around(cluster.confirm),
  };
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
  const recordRefusedWrite = (keys: readonly Key[], failure: Failure<ClusterAction>): void => {
    for (const key of keys) {
      const snapshot = stores.VolumeSnapshot.get(key);
      const event = snapshot && refusedWriteEvent(snapshot, failure);
      if (event !== undefined) deps.record(snapshot as KubeObject, event);
    }
  };
  const snapshots = createController({
    ...shared("snapshot-controller-snapshot"),
    triggers: snapshotTriggers,
    observe: (seen, key) => observeSnapshot(seen, options, key, moment()),
    onFailure: (key, failure) => {
      deps.failed?.("VolumeSnapshot", key);
      recordRefusedWrite([key], failure);
    },
    plan: deps.plans?.snapshot ?? planSnapshot,
  });
  const claims = createController({
    ...shared("snapshot-controller-claim"),
    triggers: claimTriggers,
    observe: (seen, key) => timed(observeClaim(seen, options, key, moment())),
    onFailure: (key, failure) => {
      deps.failed?.("PersistentVolumeClaim", key);
      recordRefusedWrite(stores.VolumeSnapshot.keysBy("unreadyOf", key), failure);
    },
    plan: deps.plans?.claim ?? planClaim,
  });
  const contents = createController({
    ...shared("snapshot-controller-content"),
    triggers: contentTriggers,
    observe: (seen, key) => observeContent(seen, key, deletedSnapshots.wasDeletedUnready, world.now()),
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
  return {
    stores,
    watch: (signal) => watchStores(api, storeTable, stores, { world, log, signal }),
    run: async (signal) => {
      await Promise.all([snapshots, claims, contents].map((controller) => controller.run(signal)));
    },
  };
}
