/**
 * Create requests of contents that this process has sent. Minutes may pass between the decision and the request, and the claim may
 * have been released meanwhile: so the protection is checked again just before the request, and from then on the claim is not
 * released until the reply is in the cache or the request has failed.
 */
import type { ClusterAction } from "../api/plan.ts";
import type { Draft, PersistentVolumeClaim } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import type { ActionHandler } from "./action-handlers.ts";

type Creation = Extract<ClusterAction, { readonly kind: "create" }>;

export interface ContentCreations {
  /** Whether a create request for a content of this claim is under way. */
  isUnderWay(claim: PersistentVolumeClaim): boolean;
  /** The handler that creates objects and puts the reply into the cache; creations of contents are noted. */
  around(create: ActionHandler<Creation>): ActionHandler<Creation>;
}

export interface ContentCreationsOptions {
  /** The claim that the content's snapshot names, if its protection is certain. */
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
    around: (create) => async (action, signal) => {
      const { ref, object } = action;
      if (ref.kind !== "VolumeSnapshotContent") return create(action, signal);
      const claim = protectedClaimOf(object);
      if (claim === undefined)
        throw new Fault(
          "Conflict",
          `the claim of VolumeSnapshotContent ${ref.name} is no longer protected for certain`,
        );
      count(claim, 1);
      try {
        await create(action, signal);
      } finally {
        count(claim, -1);
        onEnd(claim);
      }
    },
  };
}
