/**
 * ReferenceGrants, for all components that follow references into other namespaces: the cache that is looked at first, and the server
 * that is asked before anything is done. Where they are not served or may not be read, nothing is granted.
 */
import type { ReferenceGrant } from "../api/types.ts";
import { isFault } from "../base/fault.ts";
import { createOptionalStore, type OptionalStore, type OptionalStoreOptions } from "../kube/optional-store.ts";
import { type GrantFrom, type GrantTo, grantAllows, keysOfGrant, keysOfReference } from "../rules/reference-grant.ts";

export interface Grants
  extends Pick<OptionalStore<"ReferenceGrant">, "watch" | "known" | "isUndecided" | "lookSoon" | "onChange"> {
  /** Looks into the cache. Undefined: grants are not served, or may not be read. */
  finder(): ((from: GrantFrom, to: GrantTo) => ReferenceGrant | undefined) | undefined;
  /**
   * Whether the server has the grant of the cache, unchanged, and it allows the reference: then it has done so all the time since the
   * cache was looked at.
   */
  isStill(cached: ReferenceGrant, from: GrantFrom, to: GrantTo, signal: AbortSignal): Promise<boolean>;
}

const indexes = { reference: keysOfGrant };

export function createGrants(options: Omit<OptionalStoreOptions<"ReferenceGrant", never>, "indexes">): Grants {
  const { api } = options;
  const { current, watch, known, isUndecided, lookSoon, onChange } = createOptionalStore<"ReferenceGrant", "reference">(
    "ReferenceGrant",
    { ...options, indexes },
  );
  return {
    watch,
    known,
    isUndecided,
    lookSoon,
    onChange,
    finder: () => {
      const store = current();
      if (store === undefined) return undefined;
      return (from, to) => {
        const [named, any] = keysOfReference(from, to);
        return store.oneBy("reference", named) ?? store.oneBy("reference", any);
      };
    },
    isStill: async ({ metadata: { namespace, name, uid, generation } }, from, to, signal) => {
      try {
        const grant = await api.get({ kind: "ReferenceGrant", namespace, name }, { signal });
        const isSame = grant.metadata.uid === uid && grant.metadata.generation === generation;
        return isSame && grantAllows(grant, from, to);
      } catch (reason) {
        if (isFault(reason, "NotFound")) return false;
        throw reason;
      }
    },
  };
}
