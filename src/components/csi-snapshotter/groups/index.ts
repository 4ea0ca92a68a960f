/** The group side of the sidecar: one controller over the group contents of one driver. This file only wires. */
import { keyOf } from "../../../api/types.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../../kube/stores.ts";
import { createActionHandlers } from "../../../runtime/action-handlers.ts";
import { createController, type Triggers } from "../../../runtime/controller.ts";
import { createCallSemaphore, createCsiCallHandler } from "../../../runtime/csi-calls.ts";
import type { CsiSnapshotterDeps } from "../index.ts";
import { createGroupSend } from "./act.ts";
import { createGroupMemory } from "./memory.ts";
import { type GroupDriverFacts, type GroupOptions, groupIndexes, observeGroup } from "./observe.ts";
import { groupPhaseOf } from "./phase.ts";
import { planGroup } from "./plan.ts";
import { callNames } from "./plan-steps.ts";

const storeTable = {
  VolumeGroupSnapshotContent: { indexes: groupIndexes.VolumeGroupSnapshotContent },
  VolumeGroupSnapshotClass: {},
} as const satisfies StoreTable;
type GroupStores = StoresOf<typeof storeTable>;

const triggers: Triggers<GroupStores> = {
  VolumeGroupSnapshotContent: (content) => [keyOf(content)],
  VolumeGroupSnapshotClass: ({ metadata }, stores) => stores.VolumeGroupSnapshotContent.keysBy("class", metadata.name),
};

export interface GroupSideDeps
  extends Pick<
    CsiSnapshotterDeps,
    | "api"
    | "csi"
    | "world"
    | "log"
    | "callsAtOnce"
    | "backoff"
    | "poll"
    | "resyncMs"
    | "leading"
    | "record"
    | "observer"
  > {
  facts(): GroupDriverFacts;
  readonly options: GroupOptions;
  failed?(operation: string): void;
}

/** Contents that are reconciled while others wait for the driver. */
const contentsAtOnce = 100;

export function createGroupSide(deps: GroupSideDeps) {
  const { api, csi, facts, options, world, log, leading = () => true } = deps;
  const stores = createStores(storeTable, log);
  const memory = createGroupMemory(deps);
  const cluster = createActionHandlers({ api, stores, leading, record: deps.record });
  const name = "csi-snapshotter-group-content";
  let stopSignal: AbortSignal | undefined;
  const controller = createController({
    name,
    stores,
    triggers,
    context: () => ({ driver: facts(), options, memory, nowMs: world.now() }),
    observe: observeGroup,
    phase: ({ facts: seen }) => groupPhaseOf(seen),
    plan: planGroup,
    handlers: {
      ...cluster,
      csi: createCsiCallHandler({
        api,
        intentHandlers: cluster,
        replies: memory.replies,
        semaphore: createCallSemaphore(deps.callsAtOnce, world),
        log,
        rpcs: callNames,
        send: createGroupSend(csi, world),
        leading,
        stopping: () => stopSignal?.aborted === true,
        exists: (content) =>
          stores.VolumeGroupSnapshotContent.get(keyOf(content))?.metadata.uid === content.metadata.uid,
        trigger: (key) => controller.trigger(key),
        onFailure: (operation) => deps.failed?.(operation),
      }),
    },
    workers: contentsAtOnce,
    world,
    log,
    backoff: deps.backoff,
    resyncMs: deps.resyncMs,
    leading,
    observer: deps.observer?.(name),
  });
  stores.VolumeGroupSnapshotContent.onChange((before, after) => {
    if (before !== undefined && after === undefined) memory.replies.forget(before.metadata.uid);
  });
  return {
    factsChanged: controller.resync,
    /** Keeps the caches current and works, until the signal aborts. */
    run: async (signal: AbortSignal): Promise<void> => {
      stopSignal = signal;
      await Promise.all([watchStores(api, storeTable, stores, { world, log, signal }), controller.run(signal)]);
    },
  };
}
