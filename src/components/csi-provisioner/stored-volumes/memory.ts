/** What the process remembers of a stored PersistentVolume: the calls that delete its volume, and whether it is being stored again. */
import type { PersistentVolume } from "../../../api/types.ts";
import { type DeletionMemory, noDeletion, type Remembered } from "../driver/remembered.ts";
import { nameOfVolume, uidOfVolume } from "../identity.ts";
import type { VolumeWrites } from "../volumes/volume-writes.ts";

export interface StoredMemory extends DeletionMemory {
  /** A request of ours that creates it is in flight: an earlier one has created it, and this one would create it again. */
  readonly isBeingStored: boolean;
}

/** Nothing was sent: with it, anybody can run phase and plan on a PersistentVolume read from a cluster. */
export const noStoredMemory: StoredMemory = { ...noDeletion, isBeingStored: false };

export interface StoredMemories {
  about(volume: PersistentVolume): StoredMemory;
}

export const createStoredMemory = (
  remembered: Pick<Remembered, "aboutStored">,
  writes: Pick<VolumeWrites, "isInFlight">,
): StoredMemories => ({
  about: (volume) => ({
    ...noStoredMemory,
    ...remembered.aboutStored(uidOfVolume(volume)),
    isBeingStored: writes.isInFlight(nameOfVolume(volume)),
  }),
});
