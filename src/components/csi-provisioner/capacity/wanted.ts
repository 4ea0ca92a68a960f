/** Which objects should exist: one for each topology segment and each class whose capacity is published. */
import type { CSIStorageCapacity, StorageClass } from "../../../api/types.ts";
import { type Key, keyIn } from "../../../base/brand.ts";
import { capacityKey, classAndSegmentOf, keyOfCapacity } from "./key.ts";
import { isPublished } from "./observe.ts";
import type { SegmentList } from "./segments.ts";

export interface WantedCapacities {
  keysOfSegment(text: string): readonly Key[];
  keysOfClass(className: string): readonly Key[];
  counts(objects: Iterable<CSIStorageCapacity>): CapacityCounts;
}

/** How many objects there should be, how many of these there are, and how many others. */
export type CapacityCounts = Readonly<Record<"goal" | "current" | "obsolete", number>>;

export interface WantedOptions {
  readonly classes: { get(key: Key): StorageClass | undefined; all(): Iterable<StorageClass> };
  readonly segments: SegmentList;
  readonly driver: string;
  readonly forImmediateBinding: boolean;
}

export function createWanted({ classes, segments, driver, forImmediateBinding }: WantedOptions): WantedCapacities {
  const publishes = (storageClass: StorageClass | undefined): storageClass is StorageClass =>
    storageClass !== undefined && isPublished(storageClass, driver, forImmediateBinding);
  const published = (): readonly StorageClass[] => [...classes.all()].filter(publishes);
  const isWanted = (key: Key): boolean => {
    const { className, segment } = classAndSegmentOf(key);
    return segments.get(segment) !== undefined && publishes(classes.get(keyIn(undefined, className)));
  };
  return {
    keysOfSegment: (text) => published().map(({ metadata }) => capacityKey(metadata.name, text)),
    keysOfClass: (className) => [...segments.all()].map(([text]) => capacityKey(className, text)),
    counts: (objects) => {
      const current = new Set<Key>();
      let obsolete = 0;
      for (const object of objects) {
        const key = keyOfCapacity(object);
        if (isWanted(key)) current.add(key);
        else obsolete += 1;
      }
      return { goal: published().length * segments.size(), current: current.size, obsolete };
    },
  };
}
