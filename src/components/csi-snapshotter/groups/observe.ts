/** What a decision about one group content needs, from the caches, the driver and the flags, in one synchronous step. */
import type { VolumeGroupSnapshotClass, VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { GroupMemory } from "./memory.ts";

export interface GroupDriverFacts {
  readonly driver: string;
  /** Whether the driver has a group controller. Undefined: it is not reachable, and may come back as another version. */
  readonly canGroup: boolean | undefined;
}

export interface GroupOptions {
  readonly groupsnapshotNamePrefix: string;
  /** -1: the whole uid. */
  readonly groupsnapshotNameUuidLength: number;
  readonly extraCreateMetadata: boolean;
}

export interface GroupFacts extends GroupDriverFacts {
  readonly content: VolumeGroupSnapshotContent;
  readonly groupClass: VolumeGroupSnapshotClass | undefined;
  readonly options: GroupOptions;
}

export interface GroupView {
  readonly facts: GroupFacts;
  readonly memory: GroupMemory;
  readonly nowMs: Millis;
}

/** The secondary groupIndexes; index.ts passes them to the stores. */
export const groupIndexes = {
  VolumeGroupSnapshotContent: {
    class: ({ spec }: VolumeGroupSnapshotContent) => spec.volumeGroupSnapshotClassName,
  },
} as const;

export interface GroupStores {
  readonly VolumeGroupSnapshotContent: { get(key: Key): VolumeGroupSnapshotContent | undefined };
  readonly VolumeGroupSnapshotClass: { get(key: Key): VolumeGroupSnapshotClass | undefined };
}

export interface GroupContext {
  readonly driver: GroupDriverFacts;
  readonly options: GroupOptions;
  readonly memory: { about(content: VolumeGroupSnapshotContent): GroupMemory };
  readonly nowMs: Millis;
}

export function observeGroup(
  stores: GroupStores,
  { driver, options, memory, nowMs }: GroupContext,
  key: Key,
): GroupView | undefined {
  const content = stores.VolumeGroupSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const className = content.spec.volumeGroupSnapshotClassName;
  const groupClass = className ? stores.VolumeGroupSnapshotClass.get(keyIn(undefined, className)) : undefined;
  return { facts: { ...driver, content, groupClass, options }, memory: memory.about(content), nowMs };
}
