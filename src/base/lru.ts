/** A map that forgets what has not been used for longest. */
export function createLru<T>(sizeMax: number) {
  const entries = new Map<string, T>();
  const set = (key: string, value: T): void => {
    entries.delete(key);
    entries.set(key, value);
    for (const oldest of entries.keys()) {
      if (entries.size <= sizeMax) break;
      entries.delete(oldest);
    }
  };
  return {
    set,
    values: () => entries.values(),
    size: (): number => entries.size,
    get: (key: string): T | undefined => entries.get(key),
    delete: (key: string): void => void entries.delete(key),
    use(key: string, create: () => T): T {
      const value = entries.get(key) ?? create();
      set(key, value);
      return value;
    },
  };
}
