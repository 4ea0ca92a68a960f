/** Which claims are being restored from a snapshot, in its own namespace and in others. */
import type { KubeObject, PersistentVolumeClaim, VolumeSnapshot } from "../../../src/api/types.ts";
import type { Seen, WatchedKind } from "../record.ts";
import { claimsIn, isGoing, type Sender } from "./monitor.ts";
import { isAllowedBy, isDenied, referenceOf } from "./reference.ts";

function namesIt(seen: Seen, claim: PersistentVolumeClaim, { metadata: { namespace, name } }: VolumeSnapshot): boolean {
  const reference = referenceOf(seen, claim);
  return reference === undefined
    ? claim.metadata.namespace === namespace && claim.spec?.dataSource?.name === name
    : reference.key === `${namespace}/${name}` && !isDenied(seen, claim);
}

/** Claims that wait for a volume made from this snapshot, may refer to it, and did so before it was deleted. */
export const restoringFrom = (seen: Seen, snapshot: VolumeSnapshot): readonly PersistentVolumeClaim[] =>
  claimsIn(seen).filter(
    (claim) =>
      claim.status?.phase === "Pending" &&
      !isGoing(claim) &&
      (claim.metadata.creationTimestamp ?? "") <= (snapshot.metadata.deletionTimestamp ?? "9") &&
      namesIt(seen, claim, snapshot),
  );

/**
 * Whether the sender had heard of the claim, and of what lets it use its source: nobody can wait for another. Before it has a list of
 * grants, and of links, it has to wait for every claim that may be let.
 */
export function hasHeardOf(seen: Seen, { process, decidedMs }: Sender, claim: PersistentVolumeClaim): boolean {
  const isKnown = ({ metadata }: KubeObject): boolean =>
    seen.knowledge.floorOf(process, metadata.uid, decidedMs) !== undefined;
  const isUnlisted = ({ kind }: KubeObject): boolean =>
    !seen.knowledge.hasListed(process, kind as WatchedKind, decidedMs);
  const reference = referenceOf(seen, claim);
  return (
    isKnown(claim) &&
    (reference === undefined || isAllowedBy(seen, reference, (object) => isKnown(object) || isUnlisted(object)))
  );
}
