/**
 * What a volume is known by. One that a claim wants has a name, from its CreateVolume call to its PersistentVolume; one that is stored
 * has the uid of its PersistentVolume, too. What is remembered of the one says nothing of the other, and neither passes for the other.
 */
import type { PersistentVolume } from "../../api/types.ts";
import { type Brand, type Key, keyIn } from "../../base/brand.ts";

/** Made from the uid of the claim: the name at the driver, in the stored calls, and of the PersistentVolume. */
export type VolumeName = Brand<string, "VolumeName">;
/** The uid of a stored PersistentVolume. */
export type VolumeUid = Brand<string, "VolumeUid">;

export const volumeName = (text: string): VolumeName => text as VolumeName;
export const nameOfVolume = ({ metadata }: PersistentVolume): VolumeName => volumeName(metadata.name);
export const uidOfVolume = ({ metadata }: PersistentVolume): VolumeUid => metadata.uid as VolumeUid;

/** The key of a volume in both queues, and of its PersistentVolume in the cache. */
export const volumeKey = (name: VolumeName): Key => keyIn(undefined, name);
export const nameInKey = (key: Key): VolumeName => volumeName(String(key));
