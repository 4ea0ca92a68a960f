/**
 * The events that watches can still start from, per collection: bounded by count in each, and by size in all of them
 * together. A watch that starts further back is told to list again.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { StoreEvent } from "./contracts.ts";

export interface HistoryOptions {
  /** Events kept per collection. */
  readonly eventsMax: number;
  /** Characters of the objects in the events of all collections, about. */
  readonly charsMax: number;
}

interface Kept {
  readonly event: StoreEvent;
  readonly chars: number;
}

interface Events {
  kept: Kept[];
  chars: number;
  /** Events after this version are all kept. */
  knownAfter: number;
}

export interface History {
  add(event: StoreEvent): void;
  after(collection: string, version: number): readonly StoreEvent[] | "expired";
}

/** A list is shortened only when it has grown this much too long: shortening copies all of it. */
const slack = 0.25;

export function createHistory({ eventsMax, charsMax }: HistoryOptions): History {
  const collections = new Map<string, Events>();
  let chars = 0;

  function drop(events: Events, count: number): void {
    const last = events.kept[count - 1];
    if (last === undefined) return;
    const dropped = events.kept.slice(0, count).reduce((sum, one) => sum + one.chars, 0);
    events.knownAfter = last.event.now.version;
    events.kept = events.kept.slice(count);
    events.chars -= dropped;
    chars -= dropped;
  }

  /** The collection that holds most gives up its older half: one of large objects costs the others nothing. */
  function dropLargest(): void {
    const all = [...collections.values()];
    const largest = all.reduce((most, events) => (events.chars > most.chars ? events : most));
    drop(largest, Math.ceil(largest.kept.length / 2));
  }

  return {
    add(event) {
      const events = collections.get(event.collection) ?? { kept: [], chars: 0, knownAfter: 0 };
      collections.set(event.collection, events);
      const size = charsOf(event.now.object, charsMax);
      events.kept.push({ event, chars: size });
      events.chars += size;
      chars += size;
      const excess = events.kept.length - eventsMax;
      if (excess > eventsMax * slack) drop(events, excess);
      while (chars > charsMax) dropLargest();
    },
    after(collection, version) {
      const { kept, knownAfter } = collections.get(collection) ?? { kept: [], knownAfter: 0 };
      if (version < knownAfter) return "expired";
      const first = kept.findIndex(({ event }) => event.now.version > version);
      return first === -1 ? [] : kept.slice(first).map(({ event }) => event);
    },
  };
}

/** About as many as its JSON text has, without making the text. Not by recursion: a commit must never fail on a deep object. */
function charsOf(object: JsonValue, enough: number): number {
  let sum = 0;
  const rest: (JsonValue | undefined)[] = [object];
  while (rest.length > 0 && sum <= enough) {
    const value = rest.pop();
    if (typeof value === "string") sum += value.length + 2;
    else if (typeof value !== "object" || value === null) sum += 8;
    else
      for (const key in value) {
        sum += key.length + 4;
        rest.push((value as JsonObject)[key]);
      }
  }
  return sum;
}
