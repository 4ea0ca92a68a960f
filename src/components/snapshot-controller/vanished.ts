/**
 * Claims that were waiting for a volume made from a snapshot, and are no longer in our cache. Most often somebody has deleted them; but a
 * list from the past may have left them out, and the snapshot they are restored from would be deleted under them. So the server is
 * asked for each before that.
 */
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { Key } from "../../base/brand.ts";
import { limits } from "../../base/limits.ts";
import { createRecent } from "../../kube/recent.ts";
import { restoredSnapshotKeys } from "./observe.ts";

export interface Vanished {
  /** To be told of every change of a claim. */
  see(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** Those that were to be restored from this snapshot. */
  from(snapshot: Key): readonly PersistentVolumeClaim[];
}

export function createVanished(sizeMax: number = limits.vanishedClaimSourcesMax): Vanished {
  const bySnapshot = createRecent<ReadonlyMap<Key, PersistentVolumeClaim>>(sizeMax);
  const without = (snapshot: Key, claim: PersistentVolumeClaim): Map<Key, PersistentVolumeClaim> => {
    const others = new Map(bySnapshot.get(snapshot));
    others.delete(keyOf(claim));
    return others;
  };
  return {
    see: (before, after) => {
      const claim = after ?? before;
      if (claim === undefined) return;
      const isMissed = after === undefined && isWaiting(claim);
      for (const snapshot of restoredSnapshotKeys(claim)) {
        const others = without(snapshot, claim);
        if (isMissed) bySnapshot.set(snapshot, others.set(keyOf(claim), claim));
        else if (others.size === 0) bySnapshot.delete(snapshot);
        else bySnapshot.set(snapshot, others);
      }
    },
    from: (snapshot) => [...(bySnapshot.get(snapshot)?.values() ?? [])],
  };
}

/** One that was on its way out is not missed. */
const isWaiting = ({ metadata, status }: PersistentVolumeClaim): boolean =>
  status?.phase === "Pending" && metadata.deletionTimestamp === undefined;
