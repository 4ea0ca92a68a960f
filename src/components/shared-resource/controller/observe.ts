/** What a decision about one share needs. */

import type { ShareKind } from "../../../api/share-lists.ts";
import type { SharedConfigMap, SharedSecret } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { AllowLists } from "../../../rules/share-allow-lists.ts";
import { referenceOf, type ShareReference } from "../../../rules/shared-resources.ts";
import type { Look, Memory } from "./memory.ts";

export type Share = SharedSecret | SharedConfigMap;

/** What a share of each kind refers to. */
export const referredKinds = { SharedSecret: "Secret", SharedConfigMap: "ConfigMap" } as const;

/** Names of the two kinds can be equal: the kind is part of the key. */
export const shareKey = (kind: ShareKind, name: string): Key => keyIn(kind, name);

export interface ShareView {
  readonly kind: ShareKind;
  readonly share: Share;
  readonly reference: ShareReference;
  readonly look: Look | undefined;
  /** The reference with which the reserved name was counted. */
  readonly counted: string | undefined;
  /** Undefined until they have been read: no name is judged before. */
  readonly lists: AllowLists | undefined;
  readonly relistMs: Millis;
  /** For what is written into a condition. */
  readonly nowMs: Millis;
  /** By the clock that nobody sets: how old a look is. */
  readonly elapsedMs: Millis;
}

export interface ShareStores {
  readonly SharedSecret: { get(key: Key): SharedSecret | undefined };
  readonly SharedConfigMap: { get(key: Key): SharedConfigMap | undefined };
}

export type Surroundings = Pick<ShareView, "lists" | "relistMs" | "nowMs" | "elapsedMs"> & { readonly memory: Memory };

export function observeShare(
  stores: ShareStores,
  key: Key,
  { memory, ...surroundings }: Surroundings,
): ShareView | undefined {
  const [kind, name = ""] = key.split("/", 2) as [ShareKind, string?];
  const share = stores[kind].get(keyIn(undefined, name));
  if (share === undefined) return undefined;
  const { uid } = share.metadata;
  return {
    kind,
    share,
    reference: referenceOf(kind, share as unknown as JsonObject),
    look: memory.look(uid),
    counted: memory.counted(uid),
    ...surroundings,
  };
}
