/** One piece of work per volume at a time; the later one waits. Memory: volumes that are being worked on. */
export function createSerial() {
  const last = new Map<string, Promise<unknown>>();
  return <T>(id: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(id) ?? Promise.resolve();
    const now = before.then(work, work);
    const ended = now.then(
      () => undefined,
      () => undefined,
    );
    last.set(id, ended);
    void ended.then(() => {
      if (last.get(id) === ended) last.delete(id);
    });
    return now;
  };
}
