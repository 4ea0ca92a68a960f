/**
 * Which claims are certainly protected. The finalizer in the cache is not enough: a request that removes it may be under way, sent by
 * this process or by a predecessor. That request names the version it was decided for, so any later write of the claim makes it
 * fail. Therefore the protection is certain once this process has added or renewed the finalizer and has sent no removal since.
 */
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { createLru } from "../../base/lru.ts";
import type { KubeApi } from "../../kube/api.ts";
import { memoryLimits } from "./limits.ts";
import type { Protection } from "./memory.ts";
import { hasFinalizer, isRenewable } from "./observe.ts";

export interface ClaimProtection {
  of(claim: PersistentVolumeClaim): Protection;
  /** Called for every change of a claim. */
  see(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** The same API server; the writes of claims are noted. */
  through(api: KubeApi): KubeApi;
}

export function createClaimProtection(
  onCertain: (claim: PersistentVolumeClaim) => void,
  sizeMax: number = memoryLimits.protectedClaimsMax,
): ClaimProtection {
  const known = createLru<"releasing" | "held">(sizeMax);
  const answered = (claim: PersistentVolumeClaim): void => {
    if (hasFinalizer(claim)) {
      known.set(claim.metadata.uid, "held");
      onCertain(claim);
    } else known.delete(claim.metadata.uid);
  };
  return {
    of: (claim) => {
      if (!hasFinalizer(claim)) return "none";
      const state = known.get(claim.metadata.uid);
      if (state === "held") return "certain";
      // The finalizer was there before this process, and there is no other finalizer to renew it by: kube-apiserver without its
      // plugin StorageObjectInUseProtection, or a claim that is being deleted and has only our finalizer left.
      return state === undefined && !isRenewable(claim) ? "certain" : "doubtful";
    },
    see: (before, after) => {
      if (after === undefined) known.delete(before?.metadata.uid ?? "");
      else if (!hasFinalizer(after)) known.delete(after.metadata.uid);
    },
    through: (api) => ({
      ...api,
      replace: async (kind, object, options) => {
        if (kind !== "PersistentVolumeClaim") return api.replace(kind, object, options);
        const claim = object as PersistentVolumeClaim;
        if (!hasFinalizer(claim)) known.set(claim.metadata.uid, "releasing");
        const reply = await api.replace(kind, object, options);
        answered(reply as PersistentVolumeClaim);
        return reply;
      },
    }),
  };
}
