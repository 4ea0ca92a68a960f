/** A bounded number at once; the others wait, first come first served. */
export interface Waiter {
  /** Its turn has come; `leave` gives it to the next, and may be called more than once. */
  begin(leave: () => void): void;
  /** There will be no turn any more. */
  fail(): void;
}

export interface ConnectionQueue {
  /** Returns how to leave: the queue while it waits, else its turn. */
  take(waiter: Waiter): () => void;
  /** Fails all that wait. */
  clear(): void;
}

export function createConnectionQueue(atOnceMax: number): ConnectionQueue {
  let taken = 0;
  const waiting = new Map<Waiter, () => void>();

  const next = (): void => {
    const [first] = waiting;
    if (first === undefined || taken >= atOnceMax) return;
    const [waiter, leave] = first;
    waiting.delete(waiter);
    taken += 1;
    waiter.begin(leave);
  };

  return {
    take: (waiter) => {
      let hasLeft = false;
      const leave = (): void => {
        if (hasLeft) return;
        hasLeft = true;
        if (waiting.delete(waiter)) return;
        taken -= 1;
        next();
      };
      waiting.set(waiter, leave);
      next();
      return leave;
    },
    clear: () => {
      const left = [...waiting.keys()];
      waiting.clear();
      for (const waiter of left) waiter.fail();
    },
  };
}
