/** The caches a component reads, by kind, and the loops that keep them current. */
import type { KindName } from "../api/kinds.ts";
import type { ObjectOf } from "../api/types.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { KubeApi } from "./api.ts";
import type { Indexer } from "./indexes.ts";
import type { SharedStores } from "./shared-stores.ts";
import type { Store } from "./store.ts";
import { createStore } from "./store.ts";
import type { WatchOptions, WatchScope } from "./watch.ts";
import { listAndWatch } from "./watch.ts";

/** One row per kind: its indexes, and which part of the cluster it covers. */
export type StoreTable = { readonly [K in KindName]?: StoreRow<K> };

export interface StoreRow<K extends KindName> extends WatchScope {
  readonly indexes?: Readonly<Record<string, Indexer<ObjectOf<K>>>>;
}

type IndexNames<Row> = Row extends { readonly indexes: infer Indexes } ? keyof Indexes & string : never;

/** `stores.VolumeSnapshot.keysBy("claim", …)`: kinds and index names outside of the table are type errors. */
export type StoresOf<Table extends StoreTable> = {
  readonly [K in keyof Table & KindName]: Store<K, IndexNames<Table[K]>>;
};

/** Stores of any kinds, into which action handlers feed replies. */
export type AnyStores = { readonly [K in KindName]?: Store<K> };

const rowsOf = (table: StoreTable): readonly [KindName, StoreRow<KindName>][] =>
  Object.entries(table) as [KindName, StoreRow<KindName>][];

/** `shared`: the caches of a process with several controllers. */
export function createStores<const Table extends StoreTable>(
  table: Table,
  log?: Log,
  shared?: SharedStores,
): StoresOf<Table> {
  const stores = rowsOf(table).map(([kind, { indexes, ...scope }]) => [
    kind,
    shared?.view(kind, { indexes, log, scope }) ?? createStore(kind, { indexes, log }),
  ]);
  return Object.fromEntries(stores) as StoresOf<Table>;
}

/** Keeps every store of the table current until the signal aborts. */
export async function watchStores<Table extends StoreTable>(
  api: KubeApi,
  table: Table,
  stores: StoresOf<Table>,
  options: Omit<WatchOptions, "scope">,
): Promise<void> {
  const byKind = stores as Readonly<Record<string, Store<KindName>>>;
  await Promise.all(
    rowsOf(table).map(async ([kind, { indexes: _indexes, ...scope }]) => {
      const store = byKind[kind];
      if (store !== undefined) await watchInto(api, store, { ...options, scope });
    }),
  );
}

/** Resolves when every one of them holds a whole list; rejects when the signal aborts first. */
export async function allSynced(stores: AnyStores, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    await Promise.race([Promise.all(Object.values(stores).map((store) => store.whenSynced)), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Names the kinds of which there is no whole list yet, in a sentence; undefined when there is one of each. */
export function unsyncedIn(stores: AnyStores): string | undefined {
  const kinds = Object.values(stores).filter((store) => !store.isSynced());
  return kinds.length === 0 ? undefined : `waiting for the first list of ${kinds.map(({ kind }) => kind).join(", ")}`;
}

/** Keeps one store current until the signal aborts. */
export const watchInto = <K extends KindName>(api: KubeApi, store: Store<K>, options: WatchOptions): Promise<void> =>
  store.watchShared?.(api, options) ?? listAndWatchInto(api, store, options);

/** The store has a list and a watch of its own. */
export async function listAndWatchInto<K extends KindName>(
  api: KubeApi,
  store: Store<K>,
  options: WatchOptions,
): Promise<void> {
  const { world, log, signal } = options;
  while (!signal.aborted) {
    try {
      await listAndWatch(api, store.kind, options, store.take);
    } catch (reason) {
      // The loop itself does not throw; an object so broken that it cannot be stored must not end it either.
      log.error("store rejected an event, listing again", { kind: store.kind, reason });
      await world.sleep(limits.watchRetryMsMax, signal).catch(() => undefined);
    }
  }
}
