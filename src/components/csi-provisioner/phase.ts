/**
 * Where a volume is, by facts alone.
 *
 *   wanted ──▶ stored            abandoned ──▶ (gone)
 *
 * stored:    its PersistentVolume exists: the intent has done its work.
 * abandoned: CreateVolume may have been sent, and the claim is gone or has another volume: learn the id, and delete the volume.
 * unwanted:  nothing was sent and nothing is wanted: another provisioner's claim, a bound one, one that is being deleted.
 * waiting:   the scheduler has to select a node first.
 * foreign:   a populator fills the volume.
 * wanted:    the volume is to be created.
 */
import { provisionerOf, selectedNodeOf } from "./claim.ts";
import type { VolumeFacts } from "./observe.ts";

export const volumePhases = ["stored", "abandoned", "unwanted", "waiting", "foreign", "wanted"] as const;
export type VolumePhase = (typeof volumePhases)[number];

export function phaseOf(facts: VolumeFacts): VolumePhase {
  const { volume, intent, claim, storageClass, source } = facts;
  if (volume !== undefined) return "stored";
  if (!isOpen(facts)) return intent === undefined ? "unwanted" : "abandoned";
  // A call that may have been sent is repeated as it was, whatever has changed since.
  if (intent !== undefined) return "wanted";
  if (source.kind === "foreign") return "foreign";
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  return waits && claim !== undefined && selectedNodeOf(claim) === undefined ? "waiting" : "wanted";
}

/** The claim is ours to serve and has no volume yet. With shortened uids, two claims may share a name: a call serves its own only. */
const isOpen = ({ claim, driver, intent }: VolumeFacts): boolean =>
  claim !== undefined &&
  (intent === undefined || intent.claim.uid === claim.metadata.uid) &&
  claim.metadata.deletionTimestamp === undefined &&
  !claim.spec?.volumeName &&
  provisionerOf(claim) === driver.name;
