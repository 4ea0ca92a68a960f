/** What a decision about the source of restores and clones needs, from the caches, in one synchronous step. */
import type { PersistentVolume, PersistentVolumeClaim, VolumeSnapshot } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { SourceMemories, SourceMemory } from "./memory.ts";
import type { SnapshotPair, SnapshotReader } from "./snapshot-reader.ts";
import { type SourceObject, sourceIn } from "./source.ts";

export interface SourceObjectFacts {
  readonly source: SourceObject;
  readonly object: VolumeSnapshot | PersistentVolumeClaim;
  readonly driver: string;
  /** A snapshot with its content; undefined: to be read first. */
  readonly pair: SnapshotPair | undefined;
  /** The volume of a claim. */
  readonly volume: PersistentVolume | undefined;
}

export interface SourceView {
  readonly facts: SourceObjectFacts;
  readonly memory: SourceMemory;
  /** The wall clock, for what is said of dates. */
  readonly nowMs: Millis;
}

export interface SourceStores {
  readonly PersistentVolumeClaim: { get(key: Key): PersistentVolumeClaim | undefined };
  readonly PersistentVolume: { get(key: Key): PersistentVolume | undefined };
}

export interface SourceContext {
  readonly memory: SourceMemories;
  readonly driver: string;
  /** Undefined: VolumeSnapshots are not watched, or may not be changed. */
  readonly snapshots: { get(key: Key): VolumeSnapshot | undefined } | undefined;
  readonly reader: Pick<SnapshotReader, "pair">;
  readonly nowMs: Millis;
}

export function observeSource(stores: SourceStores, context: SourceContext, id: Key): SourceView | undefined {
  const { memory, driver, snapshots, reader, nowMs } = context;
  const source = sourceIn(id);
  const { kind, key } = source;
  const claim = kind === "claim" ? stores.PersistentVolumeClaim.get(key) : undefined;
  const object = kind === "claim" ? claim : snapshots?.get(key);
  if (object === undefined) return undefined;
  const volumeName = claim?.spec?.volumeName;
  const volume = volumeName ? stores.PersistentVolume.get(keyIn(undefined, volumeName)) : undefined;
  const pair = kind === "snapshot" ? reader.pair(key) : undefined;
  return { facts: { source, object, driver, pair, volume }, memory: memory.about(source), nowMs };
}
