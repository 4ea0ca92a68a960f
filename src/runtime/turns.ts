/** Lets a bounded number of pieces of work run at once; the others wait, first come first served. */

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(atOnceMax: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The turn is handed on: nobody can come in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
