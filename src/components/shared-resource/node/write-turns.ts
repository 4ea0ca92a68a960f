/**
 * Which volumes may be written at once. One that has to wait gives up its worker, so that however much there is to write, the others can be
 * looked at and emptied; it is told when its turn has come, and passes the turn on if it does not need it any more.
 *
 * Memory: the ids of those that wait. Lost with the process, which looks at all volumes at its start.
 */
export interface WriteTurns {
  /** False: it is not this volume's turn yet. */
  take(id: string): boolean;
  /** The write has ended. */
  end(): void;
  /** The volume has been looked at: a turn that it was given and did not take goes to the next. */
  passOn(id: string): void;
}

export function createWriteTurns(atOnceMax: number, onTurn: (id: string) => void): WriteTurns {
  const waiting = new Set<string>();
  /** Told that it is their turn. */
  const called = new Set<string>();
  let running = 0;
  const callNext = (): void => {
    const [next] = waiting;
    if (next === undefined || running + called.size >= atOnceMax) return;
    waiting.delete(next);
    called.add(next);
    onTurn(next);
  };
  return {
    take(id) {
      if (!called.delete(id) && running + called.size >= atOnceMax) {
        waiting.add(id);
        return false;
      }
      waiting.delete(id);
      running += 1;
      return true;
    },
    end() {
      running -= 1;
      callNext();
    },
    passOn(id) {
      if (called.delete(id)) callNext();
    },
  };
}
