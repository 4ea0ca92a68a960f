/**
 * Caches that several controllers of one process read: one list, one watch and one copy of each object, however many look at them. Each
 * controller has a view with indexes and listeners of its own. The cache is there as long as somebody watches through a view of it.
 */
import type { KeptOf } from "../api/kept.ts";
import type { KindName } from "../api/kinds.ts";
import { keyOf } from "../api/types.ts";
import type { Log } from "../base/log.ts";
import { silent } from "../base/log.ts";
import { controllerUnder } from "../base/world.ts";
import type { KubeApi } from "./api.ts";
import { createIndexes } from "./indexes.ts";
import { createStore, type Listener, type Store, type StoreOptions, tellListeners } from "./store.ts";
import { listAndWatchInto } from "./stores.ts";
import type { WatchOptions, WatchScope } from "./watch.ts";

export interface SharedStores {
  /** A store that is filled when it is watched, from what is there already and from what comes. */
  view<K extends KindName, Index extends string>(
    kind: K,
    options: Pick<StoreOptions<K, Index>, "indexes" | "log"> & { readonly scope: WatchScope },
  ): Store<K, Index>;
}

interface Shared<K extends KindName> {
  readonly store: Store<K>;
  readonly stop: () => void;
  readonly watching: Promise<void>;
  views: number;
}

export function createSharedStores(): SharedStores {
  const shared = new Map<string, Shared<KindName>>();

  const join = <K extends KindName>(id: string, kind: K, api: KubeApi, options: WatchOptions): Shared<K> => {
    const known = shared.get(id) as Shared<K> | undefined;
    if (known !== undefined) {
      known.views += 1;
      return known;
    }
    // The cache outlives the view that was first, but not the last.
    const { own } = controllerUnder(undefined);
    const store = createStore(kind, { log: options.log });
    const watching = listAndWatchInto(api, store, { ...options, signal: own.signal });
    const made: Shared<K> = { store, stop: () => own.abort(), watching, views: 1 };
    shared.set(id, made as unknown as Shared<KindName>);
    return made;
  };
  const leave = async (id: string, joined: Omit<Shared<KindName>, "store">): Promise<void> => {
    joined.views -= 1;
    if (joined.views > 0) return;
    shared.delete(id);
    joined.stop();
    await joined.watching;
  };

  return {
    view: (kind, { indexes, log = silent, scope }) => {
      const id = `${kind} ${JSON.stringify(scope, Object.keys(scope).toSorted())}`;
      return createView(kind, createIndexes(indexes, log), log, {
        join: (api, options) => join(id, kind, api, options),
        leave: (joined) => leave(id, joined),
      });
    },
  };
}

interface Membership<K extends KindName> {
  join(api: KubeApi, options: WatchOptions): Shared<K>;
  leave(joined: Shared<K>): Promise<void>;
}

function createView<K extends KindName, Index extends string>(
  kind: K,
  indexes: ReturnType<typeof createIndexes<KeptOf<K>, Index>>,
  log: Log,
  { join, leave }: Membership<K>,
): Store<K, Index> {
  const listeners = new Set<Listener<K>>();
  const sync = Promise.withResolvers<void>();
  const nothing = createStore(kind);
  /** What the view shows; after the last watch it shows what it saw then. */
  let store: Store<K> = nothing;

  const take: Listener<K> = (before, after) => {
    const object = after ?? before;
    if (object !== undefined) indexes.change(keyOf(object), before, after);
    tellListeners(listeners, { kind, log, before, after });
  };
  const keysOf = (index: Index, value: string) => [...indexes.keys(index, value)];

  return {
    kind,
    size: () => store.size(),
    isSynced: () => store.isSynced(),
    whenSynced: sync.promise,
    get: (key) => store.get(key),
    all: () => store.all(),
    keysBy: keysOf,
    by: (index, value) => keysOf(index, value).flatMap((key) => store.get(key) ?? []),
    oneBy: (index, value) => {
      for (const key of indexes.keys(index, value)) return store.get(key);
      return undefined;
    },
    applyReply: (object) => store !== nothing && store.applyReply(object),
    applyDeletion: (key, uid) => store.applyDeletion(key, uid),
    take: (seen) => store.take(seen),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    watchShared: async (api, options) => {
      const joined = join(api, options);
      store = joined.store;
      for (const object of store.all()) take(undefined, object);
      const end = store.onChange(take);
      void store.whenSynced.then(sync.resolve);
      await new Promise<void>((resolve) => {
        if (options.signal.aborted) resolve();
        else options.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      end();
      await leave(joined);
    },
  };
}
