/**
 * Snapshots that went before their user was told of a cut. kube-apiserver decides whether a delete must wait for finalizers by what
 * it read when the delete came; a finalizer that is added between that and the removal is accepted, answered, and ignored. The
 * content made in good faith then stands without its snapshot. Nobody can want its data, which the planner would not know
 * otherwise: of a content alone one cannot tell whether its snapshot was ever ready, or whether a backup tool brought it back.
 *
 * The memory is the process's: a content whose snapshot went before this process started is left alone.
 */
import type { VolumeSnapshot } from "../../api/types.ts";
import { createLru } from "../../base/lru.ts";
import { memoryLimits } from "./limits.ts";

export interface DeletedSnapshots {
  /** To be told of every change of a snapshot. */
  see(before: VolumeSnapshot | undefined, after: VolumeSnapshot | undefined): void;
  /** Whether the snapshot of this uid was here, and went untold. */
  wasDeletedUnready(uid: string): boolean;
}

export function createDeletedSnapshots(sizeMax: number = memoryLimits.deletedSnapshotsMax): DeletedSnapshots {
  const uids = createLru<true>(sizeMax);
  return {
    see: (before, after) => {
      // One that a list had left out by mistake is back, and has not gone at all.
      if (after !== undefined) uids.delete(after.metadata.uid);
      else if (before !== undefined && isUnready(before)) uids.set(before.metadata.uid, true);
    },
    wasDeletedUnready: (uid) => uids.get(uid) === true,
  };
}

const isUnready = ({ status }: VolumeSnapshot): boolean =>
  status?.readyToUse !== true && status?.creationTime === undefined;
