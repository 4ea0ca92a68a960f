/** Several values under one key, each once. A key without values takes no memory, because keys come and go while a process runs. */
export interface Multimap<Key, Value> {
  add(key: Key, value: Value): void;
  delete(key: Key, value: Value): void;
  /** The values in the order in which they were added. It is no copy: who adds or deletes while reading copies it first. */
  get(key: Key): ReadonlySet<Value>;
  sets(): Iterable<ReadonlySet<Value>>;
}

const none: ReadonlySet<never> = new Set();

export function createMultimap<Key, Value>(): Multimap<Key, Value> {
  const sets = new Map<Key, Set<Value>>();
  return {
    add(key, value) {
      const set = sets.get(key);
      if (set === undefined) sets.set(key, new Set([value]));
      else set.add(value);
    },
    delete(key, value) {
      const set = sets.get(key);
      set?.delete(value);
      if (set?.size === 0) sets.delete(key);
    },
    get: (key) => sets.get(key) ?? none,
    sets: () => sets.values(),
  };
}
