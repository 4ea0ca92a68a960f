/**
 * How the work goes, as far as objects do not show it: how long a claim has been protected for nothing, and how long the line of
 * contents has not moved. Both only say what may wait a little, so that a burst of snapshots costs fewer writes; after a restart
 * they begin anew, and the wait with them.
 */
import { finalizers } from "../../api/names.ts";
import type { PersistentVolumeClaim, VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import { hasNoReport } from "./observe.ts";

export interface IdleTimes {
  /** How long the claim has been protected although nothing needs it; 0 while it is needed, or not protected. */
  idleMs(claim: PersistentVolumeClaim, isNeeded: boolean): Millis;
  /** To be told of every change of a claim. */
  seeClaim(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** To be told of every change of a content. */
  seeContent(before: VolumeSnapshotContent | undefined, after: VolumeSnapshotContent | undefined): void;
  /** How long no sidecar has said anything about a content for the first time. */
  standstillMs(): Millis;
}

export function createIdleTimes({ elapsed }: Pick<World, "elapsed">): IdleTimes {
  const idleSince = new Map<string, Millis>();
  let movedAtMs = Number.NEGATIVE_INFINITY;
  return {
    idleMs: ({ metadata }, isNeeded) => {
      const isProtected = metadata.finalizers?.includes(finalizers.claimAsSource) === true;
      if (isNeeded || !isProtected) {
        idleSince.delete(metadata.uid);
        return 0;
      }
      const since = idleSince.get(metadata.uid) ?? elapsed();
      idleSince.set(metadata.uid, since);
      return elapsed() - since;
    },
    seeClaim: (before, after) => {
      if (before !== undefined && after === undefined) idleSince.delete(before.metadata.uid);
    },
    seeContent: (before, after) => {
      if (before !== undefined && hasNoReport(before) && !(after !== undefined && hasNoReport(after)))
        movedAtMs = elapsed();
    },
    standstillMs: () => elapsed() - movedAtMs,
  };
}
