/** The csi-snapshotter sidecar: one controller over the contents of one driver. This file only wires. */
import type { CodedEvent } from "../../api/plan.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { SharedStores } from "../../kube/shared-stores.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../kube/stores.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import { type ControllerObserver, createController, type Triggers } from "../../runtime/controller.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../runtime/csi-calls.ts";
import { createSend, type Operation, rpcs } from "./act.ts";
import { createMemory } from "./memory.ts";
import { type DriverFacts, indexes, observe, type SidecarOptions } from "./observe.ts";
import { phaseOf } from "./phase.ts";
import { planContent } from "./plan.ts";
import type { CountAction } from "./plan-steps.ts";

const storeTable = {
  VolumeSnapshotContent: { indexes: indexes.VolumeSnapshotContent },
  VolumeSnapshotClass: {},
} as const satisfies StoreTable;
type SidecarStores = StoresOf<typeof storeTable>;

/** A class triggers the contents that name it: they may have waited for its parameters. */
const triggers: Triggers<SidecarStores> = {
  VolumeSnapshotContent: (content) => [keyOf(content)],
  VolumeSnapshotClass: ({ metadata }, stores) => stores.VolumeSnapshotContent.keysBy("class", metadata.name),
};

export interface CsiSnapshotterDeps {
  readonly api: KubeApi;
  readonly csi: CsiClient;
  /** Called at each reconcile: a driver may restart as another version. */
  facts(): DriverFacts;
  readonly options: SidecarOptions;
  readonly world: World;
  readonly log: Log;
  /** Number of concurrent CSI calls, without hanging ones. */
  readonly callsAtOnce: number;
  readonly backoff: Backoff;
  readonly poll: Backoff;
  readonly resyncMs?: Millis | undefined;
  /** With node-local sidecars: only contents that are labelled with this node. */
  readonly labelSelector?: string | undefined;
  readonly leading?: (() => boolean) | undefined;
  /** The caches of a process with several controllers. */
  readonly shared?: SharedStores | undefined;
  /** Id of this process on contents; no other process may ever have had it. Random if undefined. */
  readonly sidecarId?: string | undefined;
  /** Replaces the plan: the simulation seeds wrong decisions and must notice them. */
  readonly plan?: typeof planContent | undefined;
  /** Called for each failed attempt. */
  failed?(operation: Operation): void;
  /** Called for each count action of a plan. */
  count?(what: CountAction["what"]): void;
  record(about: KubeObject, event: CodedEvent): void;
  observer?(queue: string): ControllerObserver;
}

/** Contents that are reconciled while others wait for the driver. Waiting costs nothing, so there may be many. */
const contentsAtOnce = 1_000;

export interface CsiSnapshotter {
  readonly stores: SidecarStores;
  /** Number of contents with a remembered reply: at most the number of contents. */
  remembered(): number;
  /** Keeps the caches up to date until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Reconciles until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** To be called when the driver facts have changed: all contents are reconciled again. */
  factsChanged(): void;
}

export function createCsiSnapshotter(deps: CsiSnapshotterDeps): CsiSnapshotter {
  const { api, csi, facts, options, world, log, leading = () => true, failed = () => undefined } = deps;
  const table = {
    ...storeTable,
    VolumeSnapshotContent: { ...storeTable.VolumeSnapshotContent, labelSelector: deps.labelSelector },
  };
  const stores = createStores(table, log, deps.shared);
  const memory = createMemory(deps);
  const cluster = createActionHandlers({ api, stores, leading, record: deps.record });
  const name = "csi-snapshotter-content";
  let stopSignal: AbortSignal | undefined;
  const controller = createController({
    name,
    stores,
    triggers,
    context: () => ({ driver: facts(), options, memory, nowMs: world.now() }),
    observe,
    phase: ({ facts: seen }) => phaseOf(seen),
    plan: deps.plan ?? planContent,
    handlers: {
      ...cluster,
      // The call handler writes intents itself: every other write to metadata removes the annotation or releases the content.
      patch: (action, signal) => {
        const content = stores.VolumeSnapshotContent.get(keyIn(undefined, action.ref.name));
        if (action.subresource === undefined && content !== undefined) memory.attempts.willRemoveAnnotation(content);
        return cluster.patch(action, signal);
      },
      count: async ({ what }) => deps.count?.(what),
      csi: createCsiCallHandler({
        api,
        intentHandlers: cluster,
        replies: memory.replies,
        semaphore: createCallSemaphore(deps.callsAtOnce, world),
        log,
        rpcs,
        send: createSend(csi, world),
        // Before our id replaces a predecessor's: afterwards the content would look like one that only we have handled.
        beforeIntent: ({ call, about }) => {
          if (call.method === "create") memory.attempts.willCreate(about);
        },
        leading,
        stopping: () => stopSignal?.aborted === true,
        exists: (content) => stores.VolumeSnapshotContent.get(keyOf(content))?.metadata.uid === content.metadata.uid,
        trigger: (key) => controller.trigger(key),
        onFailure: failed,
      }),
    },
    onFailure: (key) => {
      const isTerminating = stores.VolumeSnapshotContent.get(key)?.metadata.deletionTimestamp !== undefined;
      failed(isTerminating ? "DeleteSnapshot" : "CreateSnapshot");
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
    if (before !== undefined && after === undefined) memory.forget(before);
  });
  return {
    stores,
    remembered: () => memory.replies.size,
    watch: (signal) => watchStores(api, table, stores, { world, log, signal }),
    run: (signal) => {
      stopSignal = signal;
      return controller.run(signal);
    },
    factsChanged: controller.resync,
  };
}
