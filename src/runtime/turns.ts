/** Lets a bounded number of pieces of work run at once; the others wait, first come first served. */

export interface Turns {
  <T>(work: () => Promise<T>): Promise<T>;
  /** How many run now. */
  running(): number;
}

export function createTurns(atOnceMax: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
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
  return Object.assign(inTurn, { running: () => running });
}
