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
import { isWaiting, restoredSnapshotKeys } from "./observe.ts";

export interface Vanished {
  /** To be told of every change of a claim. */
  see(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** Those that were to be restored from this snapshot. */
  from(snapshot: Key): readonly PersistentVolumeClaim[];
}

export function createVanished(sizeMax: number = limits.vanishedClaimSourcesMax): Vanished {
  const bySnapshot = createRecent<Map<Key, PersistentVolumeClaim>>(sizeMax);
  /** A golden image has ever new claims, for years. */
  const miss = (snapshot: Key, claim: PersistentVolumeClaim): void => {
    const missed = bySnapshot.use(snapshot, () => new Map());
    missed.delete(keyOf(claim));
    missed.set(keyOf(claim), claim);
    const [oldest] = missed.keys();
    if (missed.size > sizeMax && oldest !== undefined) missed.delete(oldest);
  };
  const forget = (snapshot: Key, claim: Key): void => {
    const missed = bySnapshot.get(snapshot);
    missed?.delete(claim);
    if (missed?.size === 0) bySnapshot.delete(snapshot);
  };
  return {
    see: (before, after) => {
      const claim = after ?? before;
      if (claim === undefined) return;
      const isMissed = after === undefined && isWaiting(claim);
      for (const snapshot of restoredSnapshotKeys(claim))
        if (isMissed) miss(snapshot, claim);
        else forget(snapshot, keyOf(claim));
    },
    from: (snapshot) => [...(bySnapshot.get(snapshot)?.values() ?? [])],
  };
}
