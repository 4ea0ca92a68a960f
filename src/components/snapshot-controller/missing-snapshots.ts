/**
 * Snapshots that may have needed their claim and left the cache without a deletionTimestamp. An outdated list may have missed them,
 * and their claim would be released while the driver takes the snapshot. So the server is asked for each before the claim is
 * released.
 */
import { finalizers } from "../../api/names.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import type { Key } from "../../base/brand.ts";
import { createLru } from "../../base/lru.ts";
import type { ActionHandler } from "../../runtime/action-handlers.ts";
import { memoryLimits } from "./limits.ts";
import type { ObjectName } from "./memory.ts";
import { claimKeyOf } from "./observe.ts";

type Confirmation = Extract<ClusterAction, { readonly kind: "confirm" }>;

export interface MissingSnapshots {
  /** Called for every change of a snapshot. */
  see(before: VolumeSnapshot | undefined, after: VolumeSnapshot | undefined): void;
  /** The snapshots that named this claim as their source. */
  of(claim: Key): readonly ObjectName[];
  /** The handler that asks the server; a confirmed snapshot is forgotten. */
  around(confirm: ActionHandler<Confirmation>): ActionHandler<Confirmation>;
}

interface Missed extends ObjectName {
  readonly uid: string;
  readonly claim: Key;
}

export function createMissingSnapshots(sizeMax: number = memoryLimits.missingSnapshotsMax): MissingSnapshots {
  const missed = createLru<Missed>(sizeMax);
  const forget = ({ namespace, name }: Confirmation["ref"]): void => {
    for (const item of missed.values()) if (item.name === name && item.namespace === namespace) missed.delete(item.uid);
  };
  return {
    see: (before, after) => {
      if (after !== undefined) return missed.delete(after.metadata.uid);
      const claim = before && claimKeyOf(before);
      if (before === undefined || claim === undefined || !mayNeedClaim(before)) return;
      const { namespace, name, uid } = before.metadata;
      missed.set(uid, { uid, claim, namespace, name });
    },
    of: (claim) =>
      missed
        .values()
        .filter((item) => item.claim === claim)
        .map(({ namespace, name }) => ({ namespace, name }))
        .toArray(),
    around: (confirm) => async (action, signal) => {
      await confirm(action, signal);
      if (action.ref.kind === "VolumeSnapshot" && !action.trustsReplies) forget(action.ref);
    },
  };
}

/** A content is created only for a snapshot that has our finalizer and is not being deleted. */
const mayNeedClaim = ({ metadata, status }: VolumeSnapshot): boolean =>
  status?.readyToUse !== true &&
  metadata.deletionTimestamp === undefined &&
  metadata.finalizers?.includes(finalizers.snapshotAsSource) === true;
