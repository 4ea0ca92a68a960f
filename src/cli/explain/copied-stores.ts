/** A copy of a cluster in the form of the caches that a component observes. */
import type { KindName } from "../../api/kinds.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import type { Key } from "../../base/brand.ts";
import type { Indexer } from "../../kube/indexes.ts";
import type { StoresOf, StoreTable } from "../../kube/stores.ts";
import type { ClusterCopy } from "./cluster-copy.ts";

/** The objects that an index is looked up in: those that can be known by their names, or a list of as few as possible. */
export type Scope = (kind: KindName, index: string, value: string) => readonly KubeObject[];

/** The kinds of a table are forgotten here: an index is only asked about objects of its own kind. */
type IndexTable = Readonly<Record<string, Indexer<KubeObject>>>;

export function copiedStores<const Table extends StoreTable>(
  copy: ClusterCopy,
  table: Table,
  scope: Scope,
): StoresOf<Table> {
  const rows = Object.entries(table) as unknown as [KindName, { readonly indexes?: IndexTable }][];
  return Object.fromEntries(
    rows.map(([kind, row]) => [kind, copied(copy, kind, row.indexes ?? {}, scope)]),
  ) as unknown as StoresOf<Table>;
}

function copied(copy: ClusterCopy, kind: KindName, indexes: IndexTable, scope: Scope) {
  const by = (index: string, value: string): readonly KubeObject[] =>
    indexOf(scope(kind, index, value), index, indexes[index]).get(value) ?? [];
  return {
    get: (key: Key) => {
      const slash = key.indexOf("/");
      return copy.get(kind, slash === -1 ? undefined : key.slice(0, slash), key.slice(slash + 1));
    },
    all: () => copy.list(kind),
    by,
    oneBy: (index: string, value: string) => by(index, value)[0],
    keysBy: (index: string, value: string) => by(index, value).map(keyOf),
  };
}

type Index = ReadonlyMap<string, readonly KubeObject[]>;

/** A list that is looked up in for each of thousands of objects is indexed once. */
const indexed = new WeakMap<readonly KubeObject[], Map<string, Index>>();

function indexOf(objects: readonly KubeObject[], name: string, indexer: Indexer<KubeObject> | undefined): Index {
  const own = indexed.get(objects) ?? new Map<string, Index>();
  indexed.set(objects, own);
  const known = own.get(name);
  if (known !== undefined) return known;
  const index = new Map<string, KubeObject[]>();
  for (const object of objects)
    for (const value of [indexer?.(object) ?? []].flat()) {
      const found = index.get(value);
      if (found === undefined) index.set(value, [object]);
      else found.push(object);
    }
  own.set(name, index);
  return index;
}
