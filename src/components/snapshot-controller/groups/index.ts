/** The group side of the snapshot-controller: two controllers over groups and their contents. This file only wires. */
import { createHash } from "node:crypto";
import type { VolumeGroupSnapshot, VolumeSnapshot } from "../../../api/types.ts";
import { keyOf } from "../../../api/types.ts";
import { type Key, keyIn } from "../../../base/brand.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../../kube/stores.ts";
import { ownerGroupOf } from "../../../rules/group-members.ts";
import { createActionHandlers } from "../../../runtime/action-handlers.ts";
import { createController, type Triggers } from "../../../runtime/controller.ts";
import type { SnapshotControllerDeps } from "../index.ts";
import { restoredSnapshotKeys } from "../restoring.ts";
import type { SnapshotStores } from "../triggers.ts";
import { contentNameOfGroup, type GroupContext, observeGroup, observeGroupContent } from "./observe.ts";
import { groupPhaseOf } from "./phase.ts";
import { planGroup } from "./plan.ts";
import { groupContentPhaseOf, planGroupContent } from "./plan-content.ts";

const indexes = {
  content: (group: VolumeGroupSnapshot) => contentNameOfGroup(group),
  class: ({ spec }: VolumeGroupSnapshot) => spec.volumeGroupSnapshotClassName ?? "",
  /** Groups that still wait for their claims, by namespace. */
  waiting: ({ metadata, status }: VolumeGroupSnapshot) =>
    status?.boundVolumeGroupSnapshotContentName === undefined ? (metadata.namespace ?? "") : undefined,
};
const groupTable = {
  VolumeGroupSnapshot: { indexes },
  VolumeGroupSnapshotContent: {},
  VolumeGroupSnapshotClass: {},
} as const satisfies StoreTable;
type GroupStores = SnapshotStores & StoresOf<typeof groupTable>;

const groupOf = (snapshot: VolumeSnapshot | undefined): readonly Key[] => {
  const owner = snapshot && ownerGroupOf(snapshot);
  return owner === undefined ? [] : [keyIn(snapshot?.metadata.namespace, owner.name)];
};
const groupTriggers: Triggers<GroupStores> = {
  VolumeGroupSnapshot: (group) => [keyOf(group)],
  VolumeGroupSnapshotContent: ({ metadata, spec }, stores) => {
    const { namespace, name } = spec.volumeGroupSnapshotRef ?? {};
    const named = stores.VolumeGroupSnapshot.keysBy("content", metadata.name);
    return name === undefined ? named : [keyIn(namespace, name), ...named];
  },
  VolumeGroupSnapshotClass: ({ metadata }, stores) =>
    ["", metadata.name].flatMap((name) => stores.VolumeGroupSnapshot.keysBy("class", name)),
  VolumeSnapshot: (snapshot) => groupOf(snapshot),
  VolumeSnapshotContent: ({ spec }, stores) => {
    const { namespace, name = "" } = spec.volumeSnapshotRef ?? {};
    return groupOf(stores.VolumeSnapshot.get(keyIn(namespace, name)));
  },
  PersistentVolumeClaim: (claim, stores) => [
    ...stores.VolumeGroupSnapshot.keysBy("waiting", claim.metadata.namespace ?? ""),
    ...restoredSnapshotKeys(claim).flatMap((key) => groupOf(stores.VolumeSnapshot.get(key))),
  ],
  PersistentVolume: ({ spec }, stores) =>
    spec?.claimRef?.namespace === undefined
      ? []
      : stores.VolumeGroupSnapshot.keysBy("waiting", spec.claimRef.namespace),
};
const contentTriggers: Triggers<GroupStores> = {
  VolumeGroupSnapshotContent: (content) => [keyOf(content)],
  VolumeGroupSnapshot: (group) => [keyIn(undefined, contentNameOfGroup(group))],
};

export interface GroupDeps
  extends Pick<
    SnapshotControllerDeps,
    "api" | "world" | "log" | "options" | "workers" | "backoff" | "resyncMs" | "leading" | "record" | "observer"
  > {
  /** The caches of the snapshot-controller; the group kinds have their own. */
  readonly stores: SnapshotStores;
}

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

export function createGroupControllers(deps: GroupDeps) {
  const { api, world, log, leading } = deps;
  const own = createStores(groupTable, log);
  const stores: GroupStores = { ...deps.stores, ...own };
  const context = (): GroupContext => ({ options: deps.options, digestOf, nowMs: world.now() });
  const shared = (name: string) => ({
    name,
    stores,
    handlers: createActionHandlers({ api, stores, leading, record: deps.record }),
    context,
    workers: deps.workers,
    world,
    log,
    backoff: deps.backoff,
    resyncMs: deps.resyncMs,
    leading,
    observer: deps.observer?.(name),
  });
  const groups = createController({
    ...shared("snapshot-controller-group"),
    triggers: groupTriggers,
    observe: observeGroup,
    phase: ({ facts }) => groupPhaseOf(facts),
    plan: planGroup,
  });
  const contents = createController({
    ...shared("snapshot-controller-group-content"),
    triggers: contentTriggers,
    observe: observeGroupContent,
    phase: ({ facts }) => groupContentPhaseOf(facts),
    plan: planGroupContent,
  });
  return {
    stores: own,
    /** Keeps the caches current and works, until the signal aborts. */
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([
        watchStores(api, groupTable, own, { world, log, signal }),
        groups.run(signal),
        contents.run(signal),
      ]);
    },
  };
}
