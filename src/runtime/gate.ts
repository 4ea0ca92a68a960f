/** Lets a bounded number of pieces of work run at once; the others wait their turn, first come first served. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(atOnceMax: number): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (running < atOnceMax) running += 1;
    // Whoever leaves hands its place over, so the count stays as it is.
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
