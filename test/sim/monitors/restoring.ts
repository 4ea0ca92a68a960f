/** Which claims are being restored from a snapshot, in its own namespace and in others. */
import { finalizers } from "../../../src/api/names.ts";
import type { KubeObject, PersistentVolumeClaim, VolumeSnapshot } from "../../../src/api/types.ts";
import type { Seen, WatchedKind, Write } from "../record.ts";
import { claimsIn, has, isGoing, type Sender } from "./monitor.ts";
import { isAllowedBy, isDenied, referenceOf } from "./reference.ts";

function namesIt(seen: Seen, claim: PersistentVolumeClaim, { metadata: { namespace, name } }: VolumeSnapshot): boolean {
  const reference = referenceOf(seen, claim);
  return reference === undefined
    ? claim.metadata.namespace === namespace && claim.spec?.dataSource?.name === name
    : reference.key === `${namespace}/${name}` && !isDenied(seen, claim);
}

/** The provisioner puts its finalizer on a snapshot before it stores a call that reads from it. */
const mayBeRead = (snapshot: KubeObject): boolean => has(snapshot, finalizers.snapshotRestoring);

/** Claims that block the deletion of the snapshot: of another namespace, only while a call may be stored. */
export const restoringFrom = (seen: Seen, snapshot: VolumeSnapshot): readonly PersistentVolumeClaim[] =>
  waitingFor(seen, snapshot).filter((claim) => referenceOf(seen, claim) === undefined || mayBeRead(snapshot));

/** Claims that wait for a volume made from this snapshot, may refer to it, and did so before it was deleted. */
export const waitingFor = (seen: Seen, snapshot: VolumeSnapshot): readonly PersistentVolumeClaim[] =>
  claimsIn(seen).filter(
    (claim) =>
      claim.status?.phase === "Pending" &&
      !isGoing(claim) &&
      (claim.metadata.creationTimestamp ?? "") <= (snapshot.metadata.deletionTimestamp ?? "9") &&
      namesIt(seen, claim, snapshot),
  );

/** The claim was created before the deletion of the snapshot was asked for: a list that is read during the deletion contains it. */
function isOlderThanDeletion(seen: Seen, claim: PersistentVolumeClaim, snapshot: VolumeSnapshot): boolean {
  const first = seen.entries.find(
    (entry) =>
      entry.type === "write" &&
      (entry.after?.metadata.uid === claim.metadata.uid ||
        (entry.after?.metadata.uid === snapshot.metadata.uid && isGoing(entry.after))),
  );
  return first?.type === "write" && first.kind === "PersistentVolumeClaim";
}

/** Whether every version of the snapshot being deleted that the sender could rest on showed that it may be read from. */
function isReadAsKnown(seen: Seen, { process, decidedMs }: Sender, uid: string): boolean {
  const floor = seen.knowledge.floorOf(process, uid, decidedMs) ?? 0;
  return seen.entries
    .filter((entry): entry is Write => entry.type === "write" && entry.after?.metadata.uid === uid)
    .filter(({ atMs, version }) => atMs <= decidedMs && version >= floor)
    .every(({ after }) => after === undefined || !isGoing(after) || mayBeRead(after));
}

/**
 * Whether the sender has to wait for the claim. Of the snapshot's namespace, for each that is older than the deletion: it lists them
 * before it gives a snapshot up. Of another namespace, while the snapshot has the provisioner's finalizer, for those that it had heard of, and of
 * what lets them use their source: before it has a list of grants, and of links, for each that may be let.
 */
export function hasToWaitFor(
  seen: Seen,
  sender: Sender,
  claim: PersistentVolumeClaim,
  snapshot: VolumeSnapshot,
): boolean {
  const { process, decidedMs } = sender;
  const isKnown = ({ metadata }: KubeObject): boolean =>
    seen.knowledge.floorOf(process, metadata.uid, decidedMs) !== undefined;
  const isUnlisted = ({ kind }: KubeObject): boolean =>
    !seen.knowledge.hasListed(process, kind as WatchedKind, decidedMs);
  const reference = referenceOf(seen, claim);
  return reference === undefined
    ? isKnown(claim) ||
        (isOlderThanDeletion(seen, claim, snapshot) &&
          !seen.knowledge.wasOmitted(process, claim.metadata.uid, decidedMs))
    : isKnown(claim) &&
        isReadAsKnown(seen, sender, snapshot.metadata.uid) &&
        isAllowedBy(seen, reference, (object) => isKnown(object) || isUnlisted(object));
}
