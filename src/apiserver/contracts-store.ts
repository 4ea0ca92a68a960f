/** Stored objects, and the one place through which every write goes. Types only; import them from contracts.ts. */
import type { Key } from "../base/brand.ts";
import type { ApiObject } from "../schema/contracts.ts";

export interface Stored {
  /** As stored (version `storedAs`), never changed. */
  readonly object: ApiObject;
  /** metadata.resourceVersion as a number. */
  readonly version: number;
  /** The object as JSON text, made on first use and kept. */
  text(): string;
}

export type Change =
  | {
      readonly kind: "put";
      readonly collection: string;
      readonly key: Key;
      readonly object: ApiObject;
      /** What must be there now: this version, nothing, or whatever there is. */
      readonly expect: number | "absent" | "any";
    }
  | {
      readonly kind: "remove";
      readonly collection: string;
      readonly key: Key;
      readonly expect: number | "any";
      /** The last state watchers shall see; absent: as stored. */
      readonly object?: ApiObject;
    };

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly collection: string;
  readonly key: Key;
  /** For DELETED: the last state, with the version of its deletion. */
  readonly now: Stored;
  readonly before: Stored | undefined;
}

export interface Page {
  readonly items: readonly Stored[];
  readonly left: number;
}

export interface Store {
  /** The newest version given out. */
  version(): number;
  get(collection: string, key: Key): Stored | undefined;
  /** Sorted by key, as etcd does. */
  list(collection: string, namespace?: string): readonly Stored[];
  /** The same, beginning after a key ("" for the first) and at most `limit` of them; `left` counts those that follow. */
  page(collection: string, namespace: string | undefined, after: string, limit: number): Page;
  count(collection: string): number;
  /**
   * All of it or nothing, at once, without awaiting. Every change gets a version of its own, in order; the stored objects
   * (with their resourceVersion) come back in order. Returns "conflict" when an expectation does not hold.
   */
  commit(changes: readonly Change[]): readonly Stored[] | "conflict";
  /** What happened after `version`, oldest first, or "expired" when that is no longer known. */
  eventsAfter(collection: string, version: number): readonly StoreEvent[] | "expired";
  /** Called after each commit, in order of registration, before anything else runs. Returns the way to stop. */
  onCommit(observer: (events: readonly StoreEvent[]) => void): () => void;
}
