/** What a decision about one request to publish a volume needs: the caches, and what was asked for this request. */
import type { CodedMessage } from "../../../api/plan.ts";
import type { Key, Millis } from "../../../base/brand.ts";
import { type KnownVolume, type ShareState, type ShareStores, shareOf, type VolumeContext } from "./observe.ts";
import type { PublishRequest } from "./plan-request.ts";
import type { Verdict } from "./reviews.ts";
import type { Source, SourceState } from "./types.ts";

export interface PublishFacts {
  readonly request: PublishRequest;
  /** What is mounted under its id already. */
  readonly known: KnownVolume | undefined;
  readonly refresh: boolean;
  readonly share: ShareState;
  /** Why the set that was read must not be written: there is no room for it. */
  readonly full: CodedMessage | undefined;
}

export type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "failed"; readonly reason: unknown };

/** What one request has asked and done so far. It ends with the request: the kubelet asks again. */
export interface PublishMemory {
  /** May the pod use the share? With what had been read when it was asked. */
  readonly review: (Answer<Verdict> & { readonly after: Source | undefined }) | undefined;
  readonly source: (Answer<SourceState> & { readonly of: Source }) | undefined;
  readonly isReadOnlyCounted: boolean;
  /** Whether the mount was there before. */
  readonly mount: "new" | "before" | undefined;
}

/** A request that has just come has asked nothing: with this, anybody can run phase and plan on a pod and objects read from a cluster. */
export const nothingAsked: PublishMemory = {
  review: undefined,
  source: undefined,
  isReadOnlyCounted: false,
  mount: undefined,
};

export interface PublishView {
  readonly facts: PublishFacts;
  readonly memory: PublishMemory;
  readonly nowMs: Millis;
}

export interface PublishContext extends Omit<VolumeContext, "reviews" | "sources" | "shareReads"> {
  readonly request: PublishRequest;
  readonly memory: PublishMemory;
}

export function observePublish(stores: ShareStores, context: PublishContext, key: Key): PublishView {
  const { request, memory } = context;
  const state = memory.source?.kind === "answered" ? memory.source.value : undefined;
  const content = state?.kind === "present" ? state.content : undefined;
  return {
    facts: {
      request,
      known: context.volumes.get(key),
      refresh: request.refresh && context.refreshResources,
      share: shareOf(request, stores, context),
      full: content && context.memoryUse.refusal(request.id, request.pod.namespace, content.bytes),
    },
    memory: { ...memory },
    nowMs: context.nowMs,
  };
}
