/**
 * The objects, in memory. One counter gives out versions; every collection keeps its objects and their order; a bounded
 * history of what happened is where watches start. A commit is synchronous: nothing can come between its check and its effect.
 */
import type { Key } from "../base/brand.ts";
import { print } from "../base/json.ts";
import type { ApiObject, Change, Page, Store, Stored, StoreEvent } from "./contracts.ts";
import { createHistory } from "./history.ts";

interface Collection {
  readonly objects: Map<Key, Stored>;
  /** Keys in order, or undefined since one was added or removed. */
  sorted: readonly Key[] | undefined;
}

export interface StoreOptions {
  /** Events kept per collection; a watch that starts further back is told to list again. */
  readonly historyMax?: number;
  /** Characters kept for all collections together. */
  readonly historyCharsMax?: number;
}

const historyEventsMax = 1_000;
const historyCharsMaxDefault = 64 * 2 ** 20;

function storedAt(object: ApiObject, version: number): Stored {
  // These three come first, so that a list can leave out the first two by cutting the text.
  const { kind, apiVersion, metadata, ...rest } = object;
  const stamped: ApiObject = { kind, apiVersion, metadata: { ...metadata, resourceVersion: String(version) }, ...rest };
  let kept: string | undefined;
  const text = (): string => {
    kept ??= print(stamped);
    return kept;
  };
  return { object: stamped, version, text };
}

export function createStore(options: StoreOptions = {}): Store {
  const { historyMax = historyEventsMax, historyCharsMax = historyCharsMaxDefault } = options;
  const history = createHistory({ eventsMax: historyMax, charsMax: historyCharsMax });
  const collections = new Map<string, Collection>();
  const observers = new Set<(events: readonly StoreEvent[]) => void>();
  const unheard: (readonly StoreEvent[])[] = [];
  // As with etcd, the first write of all gets version 2: a watch may start before it.
  let newest = 1;

  function collectionOf(name: string): Collection {
    const known = collections.get(name);
    if (known !== undefined) return known;
    const fresh: Collection = { objects: new Map(), sorted: [] };
    collections.set(name, fresh);
    return fresh;
  }

  const holds = (change: Change): boolean => {
    const current = collections.get(change.collection)?.objects.get(change.key);
    if (change.expect === "absent") return current === undefined;
    if (change.expect === "any") return change.kind === "put" || current !== undefined;
    return current?.version === change.expect;
  };

  function perform(change: Change): StoreEvent {
    const collection = collectionOf(change.collection);
    const { objects } = collection;
    const before = objects.get(change.key);
    newest += 1;
    const last = change.object ?? before?.object;
    if (last === undefined) throw new Error(`${change.collection} ${change.key} is to be removed and does not exist`);
    const now = storedAt(last, newest);
    if (change.kind === "put") objects.set(change.key, now);
    else objects.delete(change.key);
    if (change.kind === "remove" || before === undefined) collection.sorted = undefined;
    const type = change.kind === "remove" ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    const event: StoreEvent = { type, collection: change.collection, key: change.key, now, before };
    history.add(event);
    return event;
  }

  /**
   * An observer may commit, too: what it did is announced after what it heard, so that all hear everything in order. One that
   * fails keeps nobody else from hearing: not the others, and not all of us of what comes later.
   */
  function announce(events: readonly StoreEvent[]): void {
    unheard.push(events);
    if (unheard.length > 1) return;
    let failure: { readonly reason: unknown } | undefined;
    while (unheard[0] !== undefined) {
      for (const observer of observers)
        try {
          observer(unheard[0]);
        } catch (reason) {
          failure ??= { reason };
        }
      unheard.shift();
    }
    if (failure !== undefined) throw failure.reason;
  }

  function sortedKeys(collection: Collection): readonly Key[] {
    collection.sorted ??= [...collection.objects.keys()].sort(byCode);
    return collection.sorted;
  }

  function pageOf(name: string, namespace: string | undefined, after: string, limit: number): Page {
    const collection = collections.get(name);
    if (collection === undefined) return { items: [], left: 0 };
    const keys = sortedKeys(collection);
    const [first, end] = namespace === undefined ? [0, keys.length] : rangeOf(keys, `${namespace}/`);
    const from = after === "" ? first : Math.max(first, firstAtLeast(keys, `${after}\u0000`));
    const to = Math.min(end, from + limit);
    const items: Stored[] = [];
    for (let index = from; index < to; index += 1) {
      const stored = collection.objects.get(keys[index] as Key);
      if (stored !== undefined) items.push(stored);
    }
    return { items, left: end - to };
  }

  return {
    version: () => newest,
    get: (collection, key) => collections.get(collection)?.objects.get(key),
    count: (collection) => collections.get(collection)?.objects.size ?? 0,
    list: (name, namespace) => pageOf(name, namespace, "", Number.POSITIVE_INFINITY).items,
    page: pageOf,
    commit(changes) {
      if (!changes.every(holds)) return "conflict";
      const events = changes.map(perform);
      announce(events);
      return events.map(({ now }) => now);
    },
    eventsAfter: history.after,
    onCommit(observer) {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
  };
}

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Where the keys with this prefix stand in a sorted list: [first, one past the last]. */
function rangeOf(keys: readonly string[], prefix: string): readonly [number, number] {
  const from = firstAtLeast(keys, prefix);
  // "0" follows "/" in the alphabet, so this is the first key after all that begin with "namespace/".
  return [from, firstAtLeast(keys, `${prefix.slice(0, -1)}0`)];
}

function firstAtLeast(keys: readonly string[], wanted: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? "") < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
