/** What a decision about one share needs, from the caches, in one synchronous step. */

import type { ShareKind } from "../../../api/share-lists.ts";
import type { SharedConfigMap, SharedSecret, ShareReference } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { AllowLists } from "../../../rules/share-allow-lists.ts";
import { referenceOf } from "../../../rules/shared-resources.ts";
import type { Memory, ShareMemory } from "./memory.ts";

export type Share = SharedSecret | SharedConfigMap;

/** What a share of each kind refers to. */
export const referredKinds = { SharedSecret: "Secret", SharedConfigMap: "ConfigMap" } as const;

/** Names of the two kinds can be equal: the kind is part of the key. */
export const shareKey = (kind: ShareKind, name: string): Key => keyIn(kind, name);

export const referenceText = ({ namespace, name }: ShareReference): string => `${namespace}/${name}`;

export interface ShareFacts {
  readonly kind: ShareKind;
  readonly share: Share;
  readonly reference: ShareReference;
  /** Undefined until they have been read: no name is judged before. */
  readonly lists: AllowLists | undefined;
  readonly relistMs: Millis;
}

export interface ShareView {
  readonly facts: ShareFacts;
  readonly memory: ShareMemory;
  /** For what is written into a condition. */
  readonly nowMs: Millis;
}

export interface ShareStores {
  readonly SharedSecret: { get(key: Key): SharedSecret | undefined };
  readonly SharedConfigMap: { get(key: Key): SharedConfigMap | undefined };
}

export interface ShareContext extends Pick<ShareFacts, "lists" | "relistMs"> {
  readonly memory: Pick<Memory, "about">;
  readonly nowMs: Millis;
  /** The monotonic clock's reading, which tells how old a look is. */
  readonly elapsedMs: Millis;
}

export function observeShare(
  stores: ShareStores,
  { memory, lists, relistMs, nowMs, elapsedMs }: ShareContext,
  key: Key,
): ShareView | undefined {
  const [kind, name = ""] = key.split("/", 2) as [ShareKind, string?];
  const share = stores[kind].get(keyIn(undefined, name));
  if (share === undefined) return undefined;
  const reference = referenceOf(kind, share as unknown as JsonObject);
  return {
    facts: { kind, share, reference, lists, relistMs },
    memory: memory.about(share.metadata.uid, elapsedMs),
    nowMs,
  };
}
