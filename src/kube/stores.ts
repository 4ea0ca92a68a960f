/** The caches a component reads, by kind, and the loops that keep them current. */
import type { KindName } from "../api/kinds.ts";
import type { ObjectOf } from "../api/types.ts";
import type { Log } from "../base/log.ts";
import type { Indexer } from "./indexes.ts";
import type { Store } from "./store.ts";
import { createStore } from "./store.ts";

/** One row per kind: its indexes, and which part of the cluster it covers. */
export type StoreTable = { readonly [K in KindName]?: StoreRow<K> };

export interface StoreRow<K extends KindName> {
  readonly indexes?: Readonly<Record<string, Indexer<ObjectOf<K>>>>;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

type IndexNames<Row> = Row extends { readonly indexes: infer Indexes } ? keyof Indexes & string : never;

/** `stores.VolumeSnapshot.keysBy("claim", …)`: kinds and index names outside of the table are type errors. */
export type StoresOf<Table extends StoreTable> = {
  readonly [K in keyof Table & KindName]: Store<K, IndexNames<Table[K]>>;
};

/** Some kinds' stores, whichever: what the hands feed replies into. */
export type AnyStores = { readonly [K in KindName]?: Store<K> };

export function createStores<const Table extends StoreTable>(table: Table, log?: Log): StoresOf<Table> {
  const rows = Object.entries(table) as [KindName, StoreRow<KindName>][];
  const stores = rows.map(([kind, { indexes }]) => [kind, createStore(kind, { indexes, log })]);
  return Object.fromEntries(stores) as StoresOf<Table>;
}
