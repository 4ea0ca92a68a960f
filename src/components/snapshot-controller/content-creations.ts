/**
 * Contents whose creation is under way, as far as this process has sent it. A plan may have waited for minutes between its decision and
 * this request, with its snapshot judged otherwise meanwhile and the claim released: so the protection is looked at once more just
 * before the request leaves, and from then on the claim is held until the request is answered or given up.
 *
 * Memory: one number per claim with a request under way. What is lost with it is a request that outlives this process, which nobody
 * after it can know of.
 */
import type { Draft, PersistentVolumeClaim } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import type { KubeApi } from "../../kube/api.ts";

export interface ContentCreations {
  /** Whether a content of this claim may be about to appear. */
  isUnderWay(claim: PersistentVolumeClaim): boolean;
  /** The same API server; creations of contents that pass through are taken note of. */
  through(api: KubeApi): KubeApi;
}

export interface ContentCreationsOptions {
  /** The claim that the content's snapshot names, if it is protected for certain. */
  protectedClaimOf(content: Draft): PersistentVolumeClaim | undefined;
  /** The claim may be released now, if nothing else needs it. */
  onEnd(claim: PersistentVolumeClaim): void;
}

export function createContentCreations({ protectedClaimOf, onEnd }: ContentCreationsOptions): ContentCreations {
  /** Requests under way, by the uid of the claim. */
  const pending = new Map<string, number>();
  const count = ({ metadata: { uid } }: PersistentVolumeClaim, change: number): void => {
    const left = (pending.get(uid) ?? 0) + change;
    if (left > 0) pending.set(uid, left);
    else pending.delete(uid);
  };
  return {
    isUnderWay: ({ metadata }) => pending.has(metadata.uid),
    through: (api) => ({
      ...api,
      create: async (kind, object, write) => {
        if (kind !== "VolumeSnapshotContent") return api.create(kind, object, write);
        const claim = protectedClaimOf(object);
        if (claim === undefined)
          throw new Fault(
            "Conflict",
            `the claim of VolumeSnapshotContent ${object.metadata.name} is no longer protected for certain`,
          );
        count(claim, 1);
        try {
          return await api.create(kind, object, write);
        } finally {
          count(claim, -1);
          onEnd(claim);
        }
      },
    }),
  };
}
