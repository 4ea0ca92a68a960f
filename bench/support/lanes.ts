/** Many pieces of work, a bounded number at once. */
export async function inLanes(count: number, lanes: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** How many per second. */
export async function timed(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return count / ((performance.now() - startedAt) / 1_000);
}
