/** Secondary indexes: which keys have this value. Values are computed once, when an object comes in. */
import type { Key } from "../base/brand.ts";
import type { Log } from "../base/log.ts";
import { createMultimap } from "../base/multimap.ts";

/** Under which values an object is found; none when undefined. */
export type Indexer<T> = (object: T) => string | readonly string[] | undefined;

export function createIndexes<T, Index extends string>(
  indexers: Readonly<Record<Index, Indexer<T>>> | undefined,
  log: Log,
) {
  const tables = new Map(
    Object.entries<Indexer<T>>(indexers ?? {}).map(([name, indexer]) => [
      name,
      { indexer, keys: createMultimap<string, Key>() },
    ]),
  );
  /** An object that an indexer chokes on is found by its key only; it must not end the watch for all others. */
  const valuesOf = (indexer: Indexer<T>, key: Key, object: T): readonly string[] => {
    try {
      const values = indexer(object);
      return values === undefined ? [] : typeof values === "string" ? [values] : values;
    } catch (reason) {
      log.error("object cannot be indexed", { key, reason });
      return [];
    }
  };
  return {
    keys(index: Index, value: string): ReadonlySet<Key> {
      const table = tables.get(index);
      if (table === undefined) throw new Error(`no index "${index}": there are ${[...tables.keys()].join(", ")}`);
      return table.keys.get(value);
    },
    change(key: Key, before: T | undefined, after: T | undefined): void {
      for (const { indexer, keys } of tables.values()) {
        if (before !== undefined) for (const value of valuesOf(indexer, key, before)) keys.delete(value, key);
        if (after !== undefined) for (const value of valuesOf(indexer, key, after)) keys.add(value, key);
      }
    },
  };
}
