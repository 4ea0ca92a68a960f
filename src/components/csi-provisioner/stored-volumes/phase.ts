/**
 * Where a stored PersistentVolume is.
 *
 *   unprotected ⇄ kept ──▶ attached ──▶ deletable ──▶ deleted ──▶ (gone)
 *                              (released, with the policy Delete)
 *
 * foreign:     another driver or provisioner has made the volume, or only another node reaches it.
 * unprotected: our finalizer has to be put on, because the volume is to be deleted with its object, or taken off, because it is kept.
 * kept:        nothing is to be done: it is in use, or retained, or not ours to delete.
 * attached:    it is released, and a node still has it attached.
 * deletable:   it is released, and the driver is asked to delete the volume.
 * deleted:     the driver has deleted the volume: the object goes. Whoever decides now to retain it comes too late.
 */
import { provisioning } from "../../../api/names.ts";
import type { PersistentVolume } from "../../../api/types.ts";
import { isAccessible } from "../driver/own-node.ts";
import type { StoredView } from "./observe.ts";

export const storedPhases = ["foreign", "unprotected", "kept", "attached", "deletable", "deleted"] as const;
export type StoredPhase = (typeof storedPhases)[number];

export function storedPhaseOf({ facts, memory }: Pick<StoredView, "facts" | "memory">): StoredPhase {
  const { volume, attachments, driver, ownNode } = facts;
  if (memory.reply.kind === "deleted") return "deleted";
  if (!isOurs(volume, driver.name) || (ownNode !== undefined && !isAccessible(ownNode, volume))) return "foreign";
  const { metadata, spec, status } = volume;
  const hasFinalizer = metadata.finalizers?.includes(provisioning.volumeFinalizer) === true;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  if (spec?.persistentVolumeReclaimPolicy !== "Delete") return hasFinalizer ? "unprotected" : "kept";
  if (status?.phase === "Bound" && !isDeleted && !hasFinalizer) return "unprotected";
  if (status?.phase !== "Released" || (isDeleted && !hasFinalizer)) return "kept";
  return driver.controller.has("PUBLISH_UNPUBLISH_VOLUME") && attachments?.length !== 0 ? "attached" : "deletable";
}

const isOurs = ({ metadata, spec }: PersistentVolume, driver: string): boolean =>
  (metadata.annotations?.[provisioning.provisionedBy] ?? spec?.csi?.driver) === driver && spec?.csi?.driver === driver;
