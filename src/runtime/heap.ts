/**
 * A binary heap of keys by date that can move a key to an earlier date in place, so that a key is in it once however
 * often it was added. Equal dates leave in the order in which they came.
 */
import type { Key, Millis } from "../base/brand.ts";

interface Entry {
  readonly key: Key;
  at: Millis;
  readonly order: number;
  /** Where in the array it stands. */
  place: number;
}

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export interface Heap {
  size(): number;
  has(key: Key): boolean;
  first(): { readonly key: Key; readonly at: Millis } | undefined;
  /** True when the key was not there before; an earlier date replaces a later one. */
  put(key: Key, at: Millis): boolean;
  shift(): { readonly key: Key; readonly at: Millis } | undefined;
  /** How many are due at `now`: visits those and their neighbours only. */
  countUntil(now: Millis): number;
}

export function createHeap(): Heap {
  const entries: Entry[] = [];
  const byKey = new Map<Key, Entry>();
  let order = 0;

  const stand = (entry: Entry, place: number): void => {
    entries[place] = entry;
    entry.place = place;
  };

  const rise = (entry: Entry): void => {
    let place = entry.place;
    while (place > 0) {
      const parent = entries[(place - 1) >> 1];
      if (parent === undefined || !isBefore(entry, parent)) break;
      const above = parent.place;
      stand(parent, place);
      place = above;
    }
    stand(entry, place);
  };

  const earlierChild = (place: number): Entry | undefined => {
    const [left, right] = [entries[2 * place + 1], entries[2 * place + 2]];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  };

  const sink = (entry: Entry): void => {
    let place = entry.place;
    for (let child = earlierChild(place); child !== undefined && isBefore(child, entry); child = earlierChild(place)) {
      const below = child.place;
      stand(child, place);
      place = below;
    }
    stand(entry, place);
  };

  return {
    size: () => entries.length,
    has: (key) => byKey.has(key),
    first: () => entries[0],
    put(key, at) {
      const known = byKey.get(key);
      const entry = known ?? { key, at, order: order++, place: entries.length };
      if (known === undefined) {
        byKey.set(key, entry);
        entries.push(entry);
      } else if (at < known.at) known.at = at;
      else return false;
      rise(entry);
      return known === undefined;
    },
    shift() {
      const first = entries[0];
      const last = entries.pop();
      if (first === undefined || last === undefined) return undefined;
      byKey.delete(first.key);
      if (last !== first) {
        last.place = 0;
        sink(last);
      }
      return first;
    },
    countUntil(now) {
      let count = 0;
      const visit = [0];
      for (let place = visit.pop(); place !== undefined; place = visit.pop()) {
        const entry = entries[place];
        if (entry === undefined || entry.at > now) continue;
        count += 1;
        visit.push(2 * place + 1, 2 * place + 2);
      }
      return count;
    },
  };
}
