/**
 * Lists of claims, read before a ready snapshot is given up. Watches of two kinds have no common order: when the deletion of a snapshot
 * is seen, a claim that was created before it may still be on its way. A list that begins after that has the claim.
 *
 * Memory: the uids of snapshots for which claims were listed, up to a bound. What is lost with it: the claims are listed once more.
 */
import type { PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import { createLru } from "../../base/lru.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { ActionHandler } from "../../runtime/action-handlers.ts";
import { shareReads } from "../../runtime/shared-reads.ts";
import { memoryLimits } from "./limits.ts";
import type { ReadClaims } from "./plan.ts";

export interface ClaimLists {
  readonly readClaims: ActionHandler<ReadClaims>;
  /** Whether the claims were listed since the deletion of the snapshot was seen. */
  wereReadFor(snapshot: VolumeSnapshot): boolean;
}

export interface ClaimListsOptions {
  readonly api: Pick<KubeApi, "list">;
  readonly world: Pick<World, "elapsed" | "sleep">;
  readonly store: { applyReply(claim: PersistentVolumeClaim): unknown };
  /** Claims that the cache has and that wait to be restored from the snapshot. */
  restoringFrom(snapshot: VolumeSnapshot): readonly PersistentVolumeClaim[];
}

export function createClaimLists({ api, world, store, restoringFrom }: ClaimListsOptions): ClaimLists {
  const readFor = createLru<true>(memoryLimits.readClaimsMax);
  const readNamespace = shareReads(async (namespace, signal) => {
    const { objects } = await api.list("PersistentVolumeClaim", { namespace, signal });
    for (const claim of objects) store.applyReply(claim);
  }, world);
  return {
    wereReadFor: ({ metadata: { uid } }) => readFor.get(uid) === true,
    readClaims: async ({ snapshot }, signal) => {
      await readNamespace(snapshot.metadata.namespace ?? "", signal);
      readFor.set(snapshot.metadata.uid, true);
      // Also those count that a watch has brought meanwhile.
      const [reader] = restoringFrom(snapshot);
      if (reader !== undefined)
        throw new Fault("Conflict", `claim ${keyOf(reader)} is restored from snapshot ${keyOf(snapshot)}`);
    },
  };
}
