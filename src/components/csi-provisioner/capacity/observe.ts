/** What a decision about one segment and class needs, from the caches, in one synchronous step. */
import type { CSIStorageCapacity, OwnerReference, StorageClass } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { Segments } from "../driver/topology.ts";
import { classAndSegmentOf } from "./key.ts";
import type { CapacityMemories, CapacityMemory } from "./memory.ts";
import type { SegmentList } from "./segments.ts";

/** Where and as whose objects are published. */
export interface Publisher {
  readonly driver: string;
  readonly namespace: string;
  /** Value of the label that tells objects of this process from those of others. */
  readonly managedBy: string;
  readonly owner: OwnerReference | undefined;
}

export interface CapacityFacts {
  readonly key: Key;
  /** Undefined: no node of the driver has the segment any more. */
  readonly segments: Segments | undefined;
  /** Undefined: there is none of the name whose capacity is published. */
  readonly storageClass: StorageClass | undefined;
  /** Oldest first; there should be one. */
  readonly objects: readonly CSIStorageCapacity[];
  readonly publisher: Publisher;
}

export interface CapacityView {
  readonly facts: CapacityFacts;
  readonly memory: CapacityMemory;
  /** The wall clock, for what is said of dates. */
  readonly nowMs: Millis;
}

export interface CapacityStores {
  readonly StorageClass: { get(key: Key): StorageClass | undefined };
  readonly CSIStorageCapacity: { by(index: "key", value: string): readonly CSIStorageCapacity[] };
}

/** As for external-provisioner: kube-scheduler asks for classes that wait for a pod. */
export const isPublished = (
  { provisioner, volumeBindingMode }: StorageClass,
  driver: string,
  forImmediateBinding: boolean,
): boolean => provisioner === driver && (forImmediateBinding || volumeBindingMode !== "Immediate");

export interface CapacityContext extends Pick<CapacityFacts, "publisher"> {
  readonly memory: Pick<CapacityMemories, "about">;
  readonly segments: Pick<SegmentList, "get">;
  readonly forImmediateBinding: boolean;
  readonly nowMs: Millis;
}

export function observeCapacity(stores: CapacityStores, context: CapacityContext, key: Key): CapacityView {
  const { memory, segments, publisher, forImmediateBinding, nowMs } = context;
  const { className, segment } = classAndSegmentOf(key);
  const storageClass = stores.StorageClass.get(keyIn(undefined, className));
  const isWanted = storageClass !== undefined && isPublished(storageClass, publisher.driver, forImmediateBinding);
  return {
    facts: {
      key,
      segments: segments.get(segment),
      storageClass: isWanted ? storageClass : undefined,
      objects: stores.CSIStorageCapacity.by("key", String(key)).toSorted(byAge),
      publisher,
    },
    memory: memory.about(key),
    nowMs,
  };
}

/** The server's dates are whole seconds. */
function byAge({ metadata: a }: CSIStorageCapacity, { metadata: b }: CSIStorageCapacity): number {
  const [first, second] = [a, b].map(({ creationTimestamp, name }) => `${creationTimestamp ?? ""} ${name}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
