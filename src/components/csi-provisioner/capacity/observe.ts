/** Reads everything that a decision about one segment and class needs, in one synchronous tick. */
import type { CSIStorageCapacity, OwnerReference, StorageClass } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { Segments } from "../driver/topology.ts";
import { classAndSegmentOf } from "./key.ts";
import type { SegmentList } from "./segments.ts";

/** What the driver has answered to GetCapacity. */
export interface CapacityAnswer {
  /** The uid of the class whose parameters were sent: one of the same name may have others. */
  readonly classUid: string;
  readonly bytes: bigint;
  /** Undefined: the driver names no largest volume. */
  readonly maximumBytes: bigint | undefined;
}

/** Where and as whose objects are published. */
export interface Publisher {
  readonly driver: string;
  readonly namespace: string;
  /** Value of the label that tells objects of this process from those of others. */
  readonly managedBy: string;
  readonly owner: OwnerReference | undefined;
}

export interface CapacityFacts {
  /** Undefined: no node of the driver has the segment any more. */
  readonly segments: Segments | undefined;
  /** Undefined: there is none of the name whose capacity is published. */
  readonly storageClass: StorageClass | undefined;
  /** Oldest first; there should be one. */
  readonly objects: readonly CSIStorageCapacity[];
  readonly publisher: Publisher;
}

export interface CapacityMemory {
  /** Undefined: there is none, or it is too old. */
  readonly answer: CapacityAnswer | undefined;
  /** Until the answer is too old. */
  readonly answerLeftMs: Millis;
}

export interface CapacityView {
  readonly key: Key;
  readonly facts: CapacityFacts;
  readonly memory: CapacityMemory;
  /** The wall clock, for what is said of dates. */
  readonly nowMs: Millis;
}

export interface CapacityCaches {
  readonly StorageClass: { get(key: Key): StorageClass | undefined };
  readonly CSIStorageCapacity: { by(index: "key", value: string): readonly CSIStorageCapacity[] };
}

/** As for external-provisioner: kube-scheduler asks for classes that wait for a pod. */
export const isPublished = (
  { provisioner, volumeBindingMode }: StorageClass,
  driver: string,
  forImmediateBinding: boolean,
): boolean => provisioner === driver && (forImmediateBinding || volumeBindingMode !== "Immediate");

export interface CapacitySurroundings {
  readonly nowMs: Millis;
  readonly stores: CapacityCaches;
  readonly segments: Pick<SegmentList, "get">;
  readonly publisher: Publisher;
  readonly forImmediateBinding: boolean;
}

export function observeCapacity(around: CapacitySurroundings, key: Key, memory: CapacityMemory): CapacityView {
  const { stores, segments, publisher, forImmediateBinding, nowMs } = around;
  const { className, segment } = classAndSegmentOf(key);
  const storageClass = stores.StorageClass.get(keyIn(undefined, className));
  const isWanted = storageClass !== undefined && isPublished(storageClass, publisher.driver, forImmediateBinding);
  return {
    key,
    facts: {
      segments: segments.get(segment),
      storageClass: isWanted ? storageClass : undefined,
      objects: stores.CSIStorageCapacity.by("key", String(key)).toSorted(byAge),
      publisher,
    },
    memory,
    nowMs,
  };
}

/** The server's dates are whole seconds. */
function byAge({ metadata: a }: CSIStorageCapacity, { metadata: b }: CSIStorageCapacity): number {
  const [first, second] = [a, b].map(({ creationTimestamp, name }) => `${creationTimestamp ?? ""} ${name}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
