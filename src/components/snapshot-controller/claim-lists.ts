/**
 * Lists of claims, read before a ready snapshot is given up. Watches of two kinds have no common order: when the deletion of a snapshot
 * is seen, a claim that was created before it may still be on its way. A list that begins after that has the claim.
 *
 * No reconcile waits for a list: whoever asked is triggered when it is there.
 *
 * Memory: the uids of snapshots that wait for a list, and of those for which claims were listed, up to a bound. What is lost with it: the
 * claims are listed once more.
 */
import type { PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { Key, Millis } from "../../base/brand.ts";
import { loggable } from "../../base/fault.ts";
import type { Log } from "../../base/log.ts";
import { createLru } from "../../base/lru.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { ActionHandler } from "../../runtime/action-handlers.ts";
import { shareReads } from "../../runtime/shared-reads.ts";
import { memoryLimits } from "./limits.ts";
import type { ReadClaims } from "./plan-steps.ts";

export interface ClaimLists {
  readonly readClaims: ActionHandler<ReadClaims>;
  /** Whether the claims were listed since the deletion of the snapshot was seen. */
  wereReadFor(snapshot: VolumeSnapshot): boolean;
}

export interface ClaimListsOptions {
  readonly api: Pick<KubeApi, "list">;
  readonly world: Pick<World, "elapsed" | "sleep">;
  readonly log: Log;
  readonly store: { applyReply(claim: PersistentVolumeClaim): unknown };
  trigger(snapshot: Key, afterMs?: Millis): void;
}

/** A list of a thousand claims takes the server some tens of milliseconds, and comes once a second at most. */
const pauseMsPerClaim: Millis = 1;
const retryMs: Millis = 1_000;

export function createClaimLists({ api, world, log, store, trigger }: ClaimListsOptions): ClaimLists {
  const readFor = createLru<true>(memoryLimits.readClaimsMax);
  const waiting = new Set<string>();
  const readNamespace = shareReads(async (namespace, signal) => {
    const { objects } = await api.list("PersistentVolumeClaim", { namespace, signal });
    for (const claim of objects) store.applyReply(claim);
    return objects.length * pauseMsPerClaim;
  }, world);
  return {
    wereReadFor: ({ metadata: { uid } }) => readFor.get(uid) === true,
    readClaims: async ({ snapshot }, signal) => {
      const { namespace = "", uid } = snapshot.metadata;
      if (waiting.has(uid)) return;
      waiting.add(uid);
      const ended = (afterMs?: Millis): void => {
        waiting.delete(uid);
        if (!signal.aborted) trigger(keyOf(snapshot), afterMs);
      };
      readNamespace(namespace, signal).then(
        () => {
          readFor.set(uid, true);
          ended();
        },
        (reason) => {
          if (!signal.aborted) log.warn("claims cannot be listed yet", { namespace, reason: loggable(reason) });
          ended(retryMs);
        },
      );
    },
  };
}
