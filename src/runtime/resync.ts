/**
 * Adds every key there is, as fast as the queue takes them: at the start, at each resync, and after the queue had to
 * refuse one. A full queue pauses it where it stands, so that each object gets its turn even when there are more of
 * them than the queue holds; asked to start while under way, it goes round once more.
 */
import type { Key } from "../base/brand.ts";

export interface Resync {
  start(): void;
  /** There is room again. */
  resume(): void;
}

export function createResync(keys: () => Iterator<Key>, add: (key: Key) => boolean): Resync {
  let rest: Iterator<Key> | undefined;
  /** Taken from the iterator, but not yet by the queue. */
  let pending: Key | undefined;
  let again = false;
  let going = false;

  const nextKey = (): Key | undefined => {
    const step = rest?.next();
    return step === undefined || step.done === true ? undefined : step.value;
  };

  const once = (): boolean => {
    for (let key = pending ?? nextKey(); key !== undefined; key = nextKey()) {
      pending = key;
      if (!add(key)) return false;
      pending = undefined;
    }
    return true;
  };

  /** Adding can make room, and room calls back here: the outer call is the one that goes on. */
  const resume = (): void => {
    if (going) return;
    going = true;
    while (rest !== undefined && once()) {
      rest = again ? keys() : undefined;
      again = false;
    }
    going = false;
  };

  return {
    start() {
      if (rest === undefined) rest = keys();
      else again = true;
      resume();
    },
    resume,
  };
}
