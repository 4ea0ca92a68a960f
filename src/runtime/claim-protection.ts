/**
 * Which claims are certainly protected while something is taken of them. The finalizer in the cache is not enough: a request that
 * removes it may still land (kube/fence.ts). The protection is certain once this process has added or renewed the finalizer and has
 * sent no removal since.
 */
import { finalizers } from "../api/names.ts";
import { keyOf, type PersistentVolumeClaim } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import type { KubeApi } from "../kube/api.ts";
import { createFence, type Protection } from "../kube/fence.ts";
import { replaceNoted } from "../kube/fenced-writes.ts";

const finalizer = finalizers.claimAsSource;
const isOn = ({ metadata }: PersistentVolumeClaim): boolean => metadata.finalizers?.includes(finalizer) === true;

export interface ClaimProtection {
  of(claim: PersistentVolumeClaim): Protection;
  /** Called for every change of a claim. */
  see(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim | undefined): void;
  /** The same API server; the writes of claims are noted. */
  through(api: KubeApi): KubeApi;
}

export interface ClaimProtectionOptions {
  /** Our write of the claim has been answered. */
  onCertain(claim: PersistentVolumeClaim): void;
  /**
   * Asked just before our finalizer is taken off: evidence is read between that decision and the request, and meanwhile something may
   * have been created for the claim, whose protection was certain then.
   */
  isNeeded(claim: PersistentVolumeClaim): boolean;
  readonly sizeMax: number;
}

export function createClaimProtection({ onCertain, isNeeded, sizeMax }: ClaimProtectionOptions): ClaimProtection {
  const fence = createFence(sizeMax);
  return {
    of: (claim) => fence.protectionBy(finalizer, claim),
    see: (before, after) => {
      if (after === undefined || !isOn(after)) fence.forget((after ?? before)?.metadata.uid ?? "");
    },
    through: (api) => ({
      ...api,
      replace: async (kind, object, options) => {
        const send = () => api.replace(kind, object, options);
        if (kind !== "PersistentVolumeClaim") return send();
        const claim = object as PersistentVolumeClaim;
        if (!isOn(claim) && isNeeded(claim)) throw new Fault("Conflict", `claim ${keyOf(claim)} is needed again`);
        const reply = await replaceNoted(fence, finalizer, object, send);
        if (isOn(reply as PersistentVolumeClaim)) onCertain(reply as PersistentVolumeClaim);
        return reply;
      },
    }),
  };
}
