/**
 * Reads what a decision about one content needs, in one synchronous step that writes nothing. Facts come from the caches, the driver
 * and the flags; memory is what this process remembers (memory.ts). Phases are decided by facts alone.
 */
import type { VolumeSnapshotClass, VolumeSnapshotContent } from "../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import type { ContentMemory } from "./memory.ts";

export interface DriverFacts {
  readonly driver: string;
  /** Undefined: the driver is not reachable, and may come back as another version. */
  readonly canListSnapshots: boolean | undefined;
}

export interface SidecarOptions {
  readonly snapshotNamePrefix: string;
  /** -1: the whole uid. */
  readonly snapshotNameUuidLength: number;
  readonly extraCreateMetadata: boolean;
}

export interface ContentFacts extends DriverFacts {
  readonly content: VolumeSnapshotContent;
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  readonly options: SidecarOptions;
}

export interface ContentView {
  readonly facts: ContentFacts;
  readonly memory: ContentMemory;
  readonly nowMs: Millis;
}

/** The secondary indexes; index.ts passes them to the stores. */
export const indexes = {
  VolumeSnapshotContent: { class: ({ spec }: VolumeSnapshotContent) => spec.volumeSnapshotClassName },
} as const;

export interface SidecarStores {
  readonly VolumeSnapshotContent: { get(key: Key): VolumeSnapshotContent | undefined };
  readonly VolumeSnapshotClass: { get(key: Key): VolumeSnapshotClass | undefined };
}

export interface SidecarContext {
  readonly driver: DriverFacts;
  readonly options: SidecarOptions;
  readonly memory: { about(content: VolumeSnapshotContent): ContentMemory };
  readonly nowMs: Millis;
}

export function observe(
  stores: SidecarStores,
  { driver, options, memory, nowMs }: SidecarContext,
  key: Key,
): ContentView | undefined {
  const content = stores.VolumeSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const className = content.spec.volumeSnapshotClassName;
  const snapshotClass = className ? stores.VolumeSnapshotClass.get(keyIn(undefined, className)) : undefined;
  return { facts: { ...driver, content, snapshotClass, options }, memory: memory.about(content), nowMs };
}
