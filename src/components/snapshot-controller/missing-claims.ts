/**
 * The names of claims that were restoring from a snapshot and are no longer in the cache. Usually a user has deleted them; but an
 * outdated list may have missed them, and the snapshot would be deleted while they are restored. So the server is asked for each
 * before the snapshot is deleted.
 */
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Key, keyIn } from "../../base/brand.ts";
import { memoryLimits } from "./limits.ts";
import type { ObjectName } from "./memory.ts";
import { waitsForVolume } from "./restoring.ts";

export interface MissingClaims {
  /** Called for every change of a claim. */
  see(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** The claims that were restoring from this snapshot. */
  from(snapshot: Key): readonly ObjectName[];
  /** The number of remembered claims. */
  size(): number;
}

export function createMissingClaims(
  snapshotsOf: (claim: PersistentVolumeClaim) => readonly Key[],
  claimsMax: number = memoryLimits.missingClaimsMax,
): MissingClaims {
  /** Oldest first: one snapshot may be restored to new claims for years. */
  const pairs = new Map<string, readonly [snapshot: Key, claim: Key]>();
  const bySnapshot = new Map<Key, Map<Key, ObjectName>>();
  const pairOf = (snapshot: Key, claim: Key): string => `${snapshot}\n${claim}`;
  const forget = (snapshot: Key, claim: Key): void => {
    pairs.delete(pairOf(snapshot, claim));
    const missed = bySnapshot.get(snapshot);
    missed?.delete(claim);
    if (missed?.size === 0) bySnapshot.delete(snapshot);
  };
  const miss = (snapshot: Key, { metadata: { namespace, name } }: PersistentVolumeClaim): void => {
    const claim = keyIn(namespace, name);
    forget(snapshot, claim);
    pairs.set(pairOf(snapshot, claim), [snapshot, claim]);
    const missed = bySnapshot.get(snapshot) ?? new Map<Key, ObjectName>();
    bySnapshot.set(snapshot, missed.set(claim, { namespace, name }));
    const [oldest] = pairs.values();
    if (pairs.size > claimsMax && oldest !== undefined) forget(...oldest);
  };
  return {
    see: (before, after) => {
      const claim = after ?? before;
      if (claim === undefined) return;
      const isMissed = after === undefined && waitsForVolume(claim);
      for (const snapshot of snapshotsOf(claim))
        if (isMissed) miss(snapshot, claim);
        else forget(snapshot, keyOf(claim));
    },
    from: (snapshot) => [...(bySnapshot.get(snapshot)?.values() ?? [])],
    size: () => pairs.size,
  };
}
