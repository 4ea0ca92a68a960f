/**
 * What a call to the driver is about. The uid of a target is the key of what is remembered of its calls: three kinds of targets, and the
 * uid of none is that of another.
 */
import type { PersistentVolume } from "../../../api/types.ts";
import type { Brand } from "../../../base/brand.ts";
import { nameOfVolume, uidOfVolume, type VolumeName, type VolumeUid } from "../identity.ts";

/** A volume that only an earlier reply of the driver has named: the name that it was asked for, and the id that it has answered. */
type StrayId = Brand<string, "StrayId">;

/** A volume that a claim wants, or wanted: it has no PersistentVolume. */
interface WantedTarget {
  readonly kind: "wanted";
  readonly metadata: { readonly name: VolumeName; readonly uid: VolumeName };
  readonly goal: "create" | "learn" | "delete";
}
interface StrayTarget {
  readonly kind: "stray";
  readonly metadata: { readonly name: VolumeName; readonly uid: StrayId };
  readonly goal: "delete";
}
/** The volume of a PersistentVolume. */
interface StoredTarget {
  readonly kind: "stored";
  readonly metadata: { readonly name: VolumeName; readonly uid: VolumeUid };
  readonly goal: "delete";
  /** The version of the PersistentVolume when the call was decided. */
  readonly version: string;
}
export type VolumeTarget = WantedTarget | StrayTarget | StoredTarget;
export type TargetUid = VolumeTarget["metadata"]["uid"];

const wanted = (name: VolumeName, goal: WantedTarget["goal"]): WantedTarget => ({
  kind: "wanted",
  metadata: { name, uid: name },
  goal,
});
export const creationOf = (name: VolumeName): WantedTarget => wanted(name, "create");
/** Nobody may use the volume any more: only its id is wanted. */
export const learningOf = (name: VolumeName): WantedTarget => wanted(name, "learn");
export const undoingOf = (name: VolumeName): WantedTarget => wanted(name, "delete");

/** The driver has answered this volume before it answered another one. */
export const strayOf = (name: VolumeName, id: string): StrayTarget => ({
  kind: "stray",
  metadata: { name, uid: strayId(name, id) },
  goal: "delete",
});
export const strayId = (name: VolumeName, id: string): StrayId => `${name} ${id}` as StrayId;

export const deletionOf = (volume: PersistentVolume): StoredTarget => ({
  kind: "stored",
  metadata: { name: nameOfVolume(volume), uid: uidOfVolume(volume) },
  goal: "delete",
  version: volume.metadata.resourceVersion,
});
