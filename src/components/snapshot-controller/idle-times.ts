/**
 * Two times that no object shows: how long a claim has been protected although nothing needs it, and how long no content has had its
 * first status from a sidecar. Both only delay writes, so that a burst of snapshots costs fewer of them.
 */
import type { PersistentVolumeClaim, VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import { hasFinalizer, hasNoReport } from "./observe.ts";

export interface IdleTimes {
  /** How long, as far as it was noted, the claim has been protected although nothing needs it. */
  idleMs(claim: PersistentVolumeClaim): Millis;
  /** Called once per reconcile of a claim. The need is asked for only if the claim is protected: that may take long. */
  note(claim: PersistentVolumeClaim, isNeeded: () => boolean): void;
  /** Called for every change of a claim. */
  seeClaim(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** Called for every change of a content. */
  seeContent(before: VolumeSnapshotContent | undefined, after: VolumeSnapshotContent | undefined): void;
  /** How long no content has had its first status from a sidecar. */
  standstillMs(): Millis;
}

export function createIdleTimes({ elapsed }: Pick<World, "elapsed">): IdleTimes {
  const idleSince = new Map<string, Millis>();
  let movedAtMs = Number.NEGATIVE_INFINITY;
  return {
    idleMs: ({ metadata }) => elapsed() - (idleSince.get(metadata.uid) ?? elapsed()),
    note: (claim, isNeeded) => {
      const { uid } = claim.metadata;
      if (!hasFinalizer(claim) || isNeeded()) idleSince.delete(uid);
      else if (!idleSince.has(uid)) idleSince.set(uid, elapsed());
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
