/** Which volumes a share, a subject or a source concerns. Memory: the ids of mounted volumes. */
export function createUsers() {
  const ids = new Map<string, Set<string>>();
  return {
    add(key: string, id: string): void {
      const known = ids.get(key) ?? new Set();
      ids.set(key, known.add(id));
    },
    remove(key: string, id: string): void {
      const known = ids.get(key);
      known?.delete(id);
      if (known?.size === 0) ids.delete(key);
    },
    of: (key: string): readonly string[] => [...(ids.get(key) ?? [])],
  };
}
