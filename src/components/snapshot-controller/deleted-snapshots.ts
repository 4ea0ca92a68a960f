/**
 * Snapshots that were deleted before their user saw that they were taken. kube-apiserver decides whether a delete request waits for
 * finalizers by the object that it read first; a finalizer that is added after that read is accepted and then ignored. The content
 * then has no snapshot, and nobody can want its data. The content alone does not show that: its snapshot may have been ready, or a
 * backup tool may have restored the content.
 */
import type { VolumeSnapshot } from "../../api/types.ts";
import { createLru } from "../../base/lru.ts";
import { memoryLimits } from "./limits.ts";

export interface DeletedSnapshots {
  /** Called for every change of a snapshot. */
  see(before: VolumeSnapshot | undefined, after: VolumeSnapshot | undefined): void;
  /** Whether the snapshot of this uid was deleted before its user saw that it was taken. */
  wasDeletedUnready(uid: string): boolean;
}

export function createDeletedSnapshots(sizeMax: number = memoryLimits.deletedSnapshotsMax): DeletedSnapshots {
  const uids = createLru<true>(sizeMax);
  return {
    see: (before, after) => {
      // The snapshot was missed by an outdated list and was never deleted.
      if (after !== undefined) uids.delete(after.metadata.uid);
      else if (before !== undefined && isUnready(before)) uids.set(before.metadata.uid, true);
    },
    wasDeletedUnready: (uid) => uids.get(uid) === true,
  };
}

const isUnready = ({ status }: VolumeSnapshot): boolean =>
  status?.readyToUse !== true && status?.creationTime === undefined;
