/**
 * Where a volume is that a claim wants, or that a CreateVolume call may have made: by facts alone.
 *
 *   waiting ──▶ untaken ──▶ wanted ──▶ stored        foreign, unwanted: left to others
 *      └──────────────────────┘ │
 *                               └───▶ abandoned ──▶ (gone)
 *
 * stored:    its PersistentVolume exists: the intent has done its work.
 * abandoned: CreateVolume may have been sent, and the claim is gone or has another volume: learn the id, and delete the volume. On a
 *            node, the volume of another node under the same name is another volume.
 * unwanted:  nothing was sent and nothing is wanted: another provisioner's claim, a bound one, one that is being deleted.
 * waiting:   the scheduler has to select a node first.
 * untaken:   no node is selected yet, and ours may take the claim (one provisioner on each node).
 * foreign:   a populator fills the volume.
 * wanted:    the volume is to be created.
 */
import { provisionerOf, selectedNodeOf } from "../claims/claim.ts";
import { isAccessible } from "../driver/own-node.ts";
import type { VolumeFacts, VolumeView } from "./observe.ts";

export const volumePhases = ["stored", "abandoned", "unwanted", "waiting", "untaken", "foreign", "wanted"] as const;
export type VolumePhase = (typeof volumePhases)[number];

export function volumePhaseOf({ facts }: Pick<VolumeView, "facts">): VolumePhase {
  const { volume, intent, claim, storageClass, source, options } = facts;
  const isElsewhere = isStoredByOtherNode(facts);
  if (!isElsewhere && (volume !== undefined || hasItsVolume(facts))) return "stored";
  if (isElsewhere || !isOpen(facts)) return intent === undefined ? "unwanted" : "abandoned";
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const isUnselected = claim !== undefined && selectedNodeOf(claim) === undefined;
  // Two nodes could make a volume for one claim: also a call that was sent waits until the claim is ours again.
  if (options.ownNode !== undefined && isUnselected && source.kind !== "foreign")
    return waits || !options.ownNode.takesImmediate ? "waiting" : "untaken";
  // A call that may have been sent is repeated as it was, whatever has changed since.
  if (intent !== undefined) return "wanted";
  if (source.kind === "foreign") return "foreign";
  return waits && isUnselected ? "waiting" : "wanted";
}

/** The claim is bound to it: the PersistentVolume was stored, whether or not the cache has it already, or still. */
const hasItsVolume = ({ name, claim, intent }: VolumeFacts): boolean =>
  claim?.spec?.volumeName === name && (intent === undefined || intent.claim.uid === claim.metadata.uid);

/**
 * A call of the own node may have created a volume here, and then the claim went to another node, which has stored the PersistentVolume.
 * As long as the cache does not have it, the selected node tells whose it is.
 */
function isStoredByOtherNode({ volume, claim, intent, options: { ownNode } }: VolumeFacts): boolean {
  if (ownNode === undefined || intent === undefined) return false;
  if (volume !== undefined) return !isAccessible(ownNode, volume);
  return claim !== undefined && ![undefined, ownNode.name].includes(selectedNodeOf(claim));
}

/** The claim is ours to serve and has no volume yet. With shortened uids, two claims may share a name: a call serves its own only. */
const isOpen = ({ claim, driver, intent, options }: VolumeFacts): boolean =>
  claim !== undefined &&
  (options.ownNode === undefined || [undefined, options.ownNode.name].includes(selectedNodeOf(claim))) &&
  (intent === undefined || intent.claim.uid === claim.metadata.uid) &&
  claim.metadata.deletionTimestamp === undefined &&
  !claim.spec?.volumeName &&
  provisionerOf(claim) === driver.name;
