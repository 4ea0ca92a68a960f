/** What a decision about a stored PersistentVolume needs, from the caches, in one synchronous step. */
import type { PersistentVolume, StorageClass, VolumeAttachment } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { DriverFacts, ProvisionerOptions } from "../options.ts";
import type { StoredMemories, StoredMemory } from "./memory.ts";

export interface StoredFacts {
  readonly volume: PersistentVolume;
  readonly storageClass: StorageClass | undefined;
  /** Undefined: they are not watched, because the driver could not attach volumes when the process started. */
  readonly attachments: readonly VolumeAttachment[] | undefined;
  readonly driver: DriverFacts;
  readonly ownNode?: ProvisionerOptions["ownNode"];
}

export interface StoredView {
  readonly facts: StoredFacts;
  readonly memory: StoredMemory;
  /** The wall clock, for what is said of dates. */
  readonly nowMs: Millis;
}

export interface StoredStores {
  readonly PersistentVolume: { get(key: Key): PersistentVolume | undefined };
  readonly StorageClass: { get(key: Key): StorageClass | undefined };
  readonly VolumeAttachment?: { by(index: "volume", name: string): readonly VolumeAttachment[] } | undefined;
}

export interface StoredContext extends Pick<StoredFacts, "driver" | "ownNode"> {
  readonly memory: StoredMemories;
  readonly nowMs: Millis;
}

export function observeStored(stores: StoredStores, context: StoredContext, key: Key): StoredView | undefined {
  const { driver, ownNode, memory, nowMs } = context;
  const volume = stores.PersistentVolume.get(key);
  if (volume === undefined) return undefined;
  const storageClass = stores.StorageClass.get(keyIn(undefined, volume.spec?.storageClassName ?? ""));
  const attachments = stores.VolumeAttachment?.by("volume", volume.metadata.name);
  return { facts: { volume, storageClass, attachments, driver, ownNode }, memory: memory.about(volume), nowMs };
}
