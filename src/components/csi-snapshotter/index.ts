/** The csi-snapshotter sidecar: one controller over the contents of one driver. This file only wires. */
import type { EventText } from "../../api/plan.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import { uuid, type World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../kube/stores.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import { createController, type Triggers } from "../../runtime/controller.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../runtime/csi-calls.ts";
import type { QueueObserver } from "../../runtime/queue.ts";
import { createReplyCache } from "../../runtime/reply-cache.ts";
import { createSend, type Operation, rpcs } from "./act.ts";
import { createCreateAttempts } from "./create-attempts.ts";
import { type DriverFacts, goalOf, indexes, observe, type SidecarOptions, validityOf } from "./observe.ts";
import { planContent } from "./plan.ts";
import type { CountAction } from "./plan-steps.ts";

const storeTable = {
  VolumeSnapshotContent: { indexes: indexes.VolumeSnapshotContent },
  VolumeSnapshotClass: {},
} as const satisfies StoreTable;
type SidecarStores = StoresOf<typeof storeTable>;

/** A class concerns the contents that name it: its parameters may have been all that was missing. */
const triggers: Triggers<SidecarStores> = {
  VolumeSnapshotContent: (content) => [keyOf(content)],
  VolumeSnapshotClass: ({ metadata }, stores) => stores.VolumeSnapshotContent.keysBy("class", metadata.name),
};

export interface CsiSnapshotterDeps {
  readonly api: KubeApi;
  readonly csi: CsiClient;
  /** Asked at each look: a driver may restart as another version. */
  facts(): DriverFacts;
  readonly options: SidecarOptions;
  readonly world: World;
  readonly log: Log;
  /** CSI calls under way at once, those that hang aside. */
  readonly callsAtOnce: number;
  readonly backoff: Backoff;
  readonly poll: Backoff;
  readonly resyncMs?: Millis | undefined;
  /** Where snapshots are taken node by node: contents labelled with this node only. */
  readonly labelSelector?: string | undefined;
  readonly leading?: (() => boolean) | undefined;
  /** What this process calls itself on contents, if not by lot; it must not have been any other's name. */
  readonly sidecarId?: string | undefined;
  /** Another decision than ours: the simulation shows that it notices wrong ones. */
  readonly plan?: typeof planContent | undefined;
  /** Told of each attempt of this process that failed. */
  failed?(operation: Operation): void;
  /** Told of what plans want counted. */
  count?(what: CountAction["what"]): void;
  record(about: KubeObject, event: EventText): void;
  observer?(queue: string): QueueObserver;
}

/** Contents looked at while others wait for the driver: waiting costs nothing, so there may be many. */
const contentsAtOnce = 1_000;

export interface CsiSnapshotter {
  readonly stores: SidecarStores;
  /** Contents of which it is remembered what the driver said: never more than there are. */
  remembered(): number;
  /** Keeps the caches current until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** To be called when the facts have changed: all contents are looked at again. */
  factsChanged(): void;
}

export function createCsiSnapshotter(deps: CsiSnapshotterDeps): CsiSnapshotter {
  const { api, csi, facts, options, world, log, leading = () => true, failed = () => undefined } = deps;
  const table = {
    ...storeTable,
    VolumeSnapshotContent: { ...storeTable.VolumeSnapshotContent, labelSelector: deps.labelSelector },
  };
  const stores = createStores(table, log);
  const replies = createReplyCache({ world, backoff: deps.backoff, poll: deps.poll, goalOf, validityOf });
  const attempts = createCreateAttempts(deps.sidecarId ?? uuid(world));
  const cluster = createActionHandlers({ api, stores, leading, record: deps.record });
  const name = "csi-snapshotter-content";
  let stopSignal: AbortSignal | undefined;
  const controller = createController({
    name,
    stores,
    triggers,
    observe: (seen, key) =>
      observe({ stores: seen, replies, attempts, facts: facts(), options }, key, {
        nowMs: world.now(),
        elapsedMs: world.elapsed(),
        lastReplyAtMs: replies.lastReceivedAtMs(),
      }),
    plan: deps.plan ?? planContent,
    handlers: {
      ...cluster,
      // All but the marks before a call, which are written by its own hand, take a mark off or let a content go.
      patch: (action, signal) => {
        const content = stores.VolumeSnapshotContent.get(keyIn(undefined, action.ref.name));
        if (action.subresource === undefined && content !== undefined) attempts.willRemoveAnnotation(content);
        return cluster.patch(action, signal);
      },
      count: async ({ what }) => deps.count?.(what),
      csi: createCsiCallHandler({
        api,
        intentHandlers: cluster,
        replies,
        semaphore: createCallSemaphore(deps.callsAtOnce, world),
        log,
        rpcs,
        send: createSend(csi, world),
        // Before our id replaces a predecessor's: afterwards the content would look like one that only we have handled.
        beforeIntent: ({ call, about }) => {
          if (call.method === "create") attempts.willCreate(about);
        },
        leading,
        stopping: () => stopSignal?.aborted === true,
        exists: (content) => stores.VolumeSnapshotContent.get(keyOf(content))?.metadata.uid === content.metadata.uid,
        trigger: (key) => controller.trigger(key),
        onFailure: failed,
      }),
    },
    onFailure: (key) => {
      const isLeaving = stores.VolumeSnapshotContent.get(key)?.metadata.deletionTimestamp !== undefined;
      failed(isLeaving ? "DeleteSnapshot" : "CreateSnapshot");
    },
    workers: contentsAtOnce,
    world,
    log,
    backoff: deps.backoff,
    resyncMs: deps.resyncMs,
    leading,
    observer: deps.observer?.(name),
  });
  stores.VolumeSnapshotContent.onChange((before, after) => {
    if (before !== undefined && after === undefined) replies.forget(before.metadata.uid);
  });
  return {
    stores,
    remembered: () => replies.size,
    watch: (signal) => watchStores(api, table, stores, { world, log, signal }),
    run: (signal) => {
      stopSignal = signal;
      return controller.run(signal);
    },
    factsChanged: controller.resync,
  };
}
