/** A crowd of objects as users make them, and a cache of our own that sees them come, get done and go. */

import type { KeptOf } from "../../src/api/kept.ts";
import type { KindName } from "../../src/api/kinds.ts";
import type { Draft, ObjectOf } from "../../src/api/types.ts";
import { silent } from "../../src/base/log.ts";
import { realWorld } from "../../src/base/world.ts";
import { createStore } from "../../src/kube/store.ts";
import { watchInto } from "../../src/kube/stores.ts";
import type { Client } from "../../test/e2e/harness/client.ts";
import { inLanes } from "./lanes.ts";

export interface Crowd<K extends KindName> {
  /** Seconds from the first request until each was done, in the order in which they were done. */
  make(count: number): Promise<readonly number[]>;
  /** Seconds from the first request to the last one gone. */
  removeAll(): Promise<number>;
  /** Shows each new state of each of them, until the returned function is called. */
  onState(show: (object: KeptOf<K>) => void): () => void;
  close(): void;
}

export interface CrowdOptions<K extends KindName> {
  readonly client: Client;
  readonly kind: K;
  readonly namespace: string;
  draftOf(name: string, index: number): Draft<ObjectOf<K>>;
  isDone(object: KeptOf<K>): boolean;
}

const prefix = "bench-";
const nameAt = (index: number): string => `${prefix}${index}`;
const usersAtOnce = 16;
const waitMsMax = 300_000;
const since = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

export async function createCrowd<K extends KindName>(options: CrowdOptions<K>): Promise<Crowd<K>> {
  const { client, kind, namespace } = options;
  const store = createStore<K, never>(kind, { log: silent });
  const ending = new AbortController();
  const watching = watchInto(client, store, { world: realWorld, log: silent, signal: ending.signal });
  await Promise.race([store.whenSynced, watching]);
  /** Names of those that exist; whatever else is in the cache is not ours to count. */
  let alive: readonly string[] = [];
  let made = 0;

  const isOwn = ({ metadata }: KeptOf<K>): boolean => metadata.name.startsWith(prefix);
  const isDone = (object: KeptOf<K>): boolean => isOwn(object) && options.isDone(object);
  /** Looks at every change; a poll would cost the API server what is measured. Returns when each began to count. */
  const untilCount = (
    what: string,
    wanted: number,
    counts: (object: KeptOf<K>) => boolean,
  ): Promise<readonly number[]> =>
    new Promise((resolve, reject) => {
      const seen = new Set([...store.all()].filter(counts).map(({ metadata }) => metadata.name));
      const times: number[] = [];
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        leave();
        settle();
      };
      const leave = store.onChange((before, after) => {
        if (after !== undefined && counts(after) && !seen.has(after.metadata.name)) {
          seen.add(after.metadata.name);
          times.push(performance.now());
        }
        if (after === undefined && before !== undefined) seen.delete(before.metadata.name);
        if (seen.size === wanted) end(() => resolve(times));
      });
      const timer = setTimeout(
        () => end(() => reject(new Error(`${seen.size} of ${wanted} objects ${what} after ${waitMsMax} ms`))),
        waitMsMax,
      );
      if (seen.size === wanted) end(() => resolve(times));
    });

  return {
    make: async (count) => {
      const startedAt = performance.now();
      const first = made;
      made += count;
      alive = [...alive, ...Array.from({ length: count }, (_, index) => nameAt(first + index))];
      const all = untilCount("were done", alive.length, isDone);
      const makeOne = (index: number) => client.create(kind, options.draftOf(nameAt(first + index), first + index));
      const [times] = await Promise.all([all, inLanes(count, usersAtOnce, makeOne)]);
      return times.map((at) => (at - startedAt) / 1_000);
    },
    removeAll: async () => {
      const startedAt = performance.now();
      const names = alive;
      alive = [];
      const gone = untilCount("were left", 0, isOwn);
      const remove = (index: number) => client.delete({ kind, namespace, name: names[index] ?? "" });
      await Promise.all([inLanes(names.length, usersAtOnce, remove), gone]);
      return since(startedAt);
    },
    onState: (show) =>
      store.onChange((_before, after) => {
        if (after !== undefined && isOwn(after)) show(after);
      }),
    close: () => ending.abort(),
  };
}
