/** Publishes the capacity of the driver as CSIStorageCapacity objects, which kube-scheduler reads. This file only wires. */
import { capacityLabels } from "../../../api/names.ts";
import type { OwnerReference, PersistentVolume, PersistentVolumeClaim } from "../../../api/types.ts";
import type { Backoff } from "../../../base/backoff.ts";
import type { Key } from "../../../base/brand.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { CsiClient } from "../../../csi/client.ts";
import type { KubeApi, PathReader } from "../../../kube/api.ts";
import { createStores, type StoreTable, watchStores } from "../../../kube/stores.ts";
import { createActionHandlers } from "../../../runtime/action-handlers.ts";
import { type ControllerObserver, createController } from "../../../runtime/controller.ts";
import type { ProvisionerStores } from "../caches.ts";
import { classNameOf, selectedNodeOf } from "../claims/claim.ts";
import type { OwnNode } from "../driver/own-node.ts";
import { askForCapacity } from "./act.ts";
import { segmentsOfVolume } from "./affinity.ts";
import { keyOfCapacity, segmentText } from "./key.ts";
import { managedByOf } from "./managed-by.ts";
import { createCapacityMemory } from "./memory.ts";
import { observeCapacity } from "./observe.ts";
import type { CapacityOptions } from "./options.ts";
import { ownerWhenFound } from "./owner.ts";
import { capacityPhaseOf } from "./phase.ts";
import { planCapacity } from "./plan.ts";
import { createSegments, fixedSegments } from "./segments.ts";
import { type CapacityCounts, createWanted } from "./wanted.ts";

export interface CapacityDeps {
  /** With a rate of its own: objects by the thousand must not delay claims. */
  readonly api: KubeApi & PathReader;
  readonly csi: Pick<CsiClient, "controller">;
  readonly driver: string;
  /** Nothing is in them yet. */
  readonly stores: Pick<ProvisionerStores, "StorageClass" | "PersistentVolume" | "Node" | "CSINode">;
  readonly ownNode: OwnNode | undefined;
  readonly options: CapacityOptions;
  readonly world: World;
  readonly log: Log;
  readonly backoff: Backoff;
  leading(): boolean;
  observer?(queue: string): ControllerObserver;
}

export interface CapacityPublisher {
  watch(signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
  /** CreateVolume has failed, perhaps for lack of room. Undefined: the claim is gone meanwhile. */
  failed(claim: PersistentVolumeClaim | undefined): void;
  counts(): CapacityCounts;
}

/** As external-provisioner names it. */
const queueName = "csistoragecapacity";

export function createCapacityPublisher(deps: CapacityDeps): CapacityPublisher {
  const { api, driver, options, ownNode, world, leading } = deps;
  const { StorageClass, PersistentVolume, Node, CSINode } = deps.stores;
  const log = deps.log.with({ controller: queueName });
  const { namespace, forImmediateBinding } = options;
  const managedBy = managedByOf(ownNode?.name);
  const table = tableOf(namespace, driver, managedBy);
  const own = createStores(table, log);
  const stores = { ...own, StorageClass, ...(Node && CSINode ? { Node, CSINode } : {}) };
  const memory = createCapacityMemory(world, options.pollMs);
  let owner: OwnerReference | undefined;

  const segments =
    Node === undefined || CSINode === undefined || ownNode !== undefined
      ? fixedSegments(ownNode?.name ?? "", ownNode?.segments ?? {})
      : createSegments(driver, { nodes: Node, csiNodes: CSINode }, (text) => {
          for (const key of wanted.keysOfSegment(text)) {
            memory.forget(key);
            controller.trigger(key);
          }
        });
  const wanted = createWanted({ classes: StorageClass, segments, driver, forImmediateBinding });

  const controller = createController({
    ...{
      name: queueName,
      stores,
      world,
      log: deps.log,
      leading,
      backoff: deps.backoff,
      phase: capacityPhaseOf,
      plan: planCapacity,
    },
    workers: Math.max(1, options.threads),
    observer: deps.observer?.(queueName),
    triggers: {
      CSIStorageCapacity: (object) => [keyOfCapacity(object)],
      StorageClass: ({ metadata, provisioner }) => (provisioner === driver ? wanted.keysOfClass(metadata.name) : []),
    },
    context: () => {
      const publisher = { driver, namespace, managedBy, owner };
      return { memory, segments, publisher, forImmediateBinding, nowMs: world.now() };
    },
    observe: observeCapacity,
    handlers: {
      ...createActionHandlers({ api, stores, leading, record: () => undefined }),
      ask: async ({ key, ...question }, signal) => {
        memory.asking(key);
        try {
          memory.keep(key, await askForCapacity(deps.csi, question, log, signal));
        } finally {
          memory.asked(key);
        }
        controller.trigger(key);
      },
    },
  });

  const outdate = (keys: readonly Key[]): void => {
    for (const key of keys) {
      const afterMs = memory.outdate(key);
      if (afterMs !== undefined) controller.trigger(key, afterMs);
    }
  };
  /** Elsewhere room may have changed as well: that is found at the next poll. */
  const volumeChanged = (volume: PersistentVolume): void => {
    if (volume.spec?.csi?.driver !== driver) return;
    const places = segmentsOfVolume(volume).map(segmentText);
    if (places.length > 0) outdate(places.flatMap(wanted.keysOfSegment));
    else outdate(wanted.keysOfClass(volume.spec.storageClassName ?? ""));
  };
  PersistentVolume.onChange((before, after) => {
    if (before === undefined && after !== undefined) volumeChanged(after);
    if (before !== undefined && after === undefined) volumeChanged(before);
  });

  return {
    watch: (signal) => watchStores(api, table, own, { world, log, signal }),
    run: async (signal) => {
      owner = await ownerWhenFound({ ...deps, log }, signal);
      if (signal.aborted) return;
      log.info("storage capacity is published", {
        namespace,
        managedBy,
        ...(owner === undefined ? {} : { owner: `${owner.kind} ${owner.name}` }),
      });
      await controller.run(signal);
    },
    failed: (claim) => {
      if (claim === undefined) return;
      const place = segments.ofNode(selectedNodeOf(claim) ?? "");
      outdate(place === undefined ? wanted.keysOfClass(classNameOf(claim)) : wanted.keysOfSegment(segmentText(place)));
    },
    counts: () => wanted.counts(own.CSIStorageCapacity.all()),
  };
}

/** Only what this process publishes, or its predecessor under the same labels, and what has become obsolete of that. */
const tableOf = (namespace: string, driver: string, managedBy: string) =>
  ({
    CSIStorageCapacity: {
      namespace,
      labelSelector: `${capacityLabels.driver}=${driver},${capacityLabels.managedBy}=${managedBy}`,
      indexes: { key: keyOfCapacity },
    },
  }) as const satisfies StoreTable;
