/** A crowd of snapshots as users make them, and a cache of our own that sees them come, become ready and go. */
import { draftOf } from "../../src/api/builders.ts";
import type { VolumeSnapshot } from "../../src/api/types.ts";
import { silent } from "../../src/base/log.ts";
import { realWorld } from "../../src/base/world.ts";
import { createStores, watchStores } from "../../src/kube/stores.ts";
import type { Client } from "../../test/e2e/harness/client.ts";
import { inLanes } from "./lanes.ts";

export interface Crowd {
  /** Seconds from the first request to the last snapshot ready. */
  take(count: number): Promise<number>;
  /** Seconds from the first request to the last snapshot gone. */
  removeAll(): Promise<number>;
  close(): void;
}

export interface CrowdOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly claims: readonly string[];
  readonly snapshotClass: string;
}

const prefix = "snapshot-";
const nameAt = (index: number): string => `${prefix}${index}`;
const table = { VolumeSnapshot: {} } as const;
const usersAtOnce = 16;
const waitMsMax = 300_000;

export async function createCrowd({ client, namespace, claims, snapshotClass }: CrowdOptions): Promise<Crowd> {
  const stores = createStores(table, silent);
  const ending = new AbortController();
  const watching = watchStores(client, table, stores, { world: realWorld, log: silent, signal: ending.signal });
  await Promise.race([stores.VolumeSnapshot.whenSynced, watching]);
  /** Names of those that exist; whatever else is in the cache is not ours to count. */
  let alive: readonly string[] = [];
  let made = 0;

  const isOwn = ({ metadata }: VolumeSnapshot): boolean => metadata.name.startsWith(prefix);
  const isReady = (snapshot: VolumeSnapshot): boolean => isOwn(snapshot) && snapshot.status?.readyToUse === true;
  /** Looks at every change; a poll would cost the API server what is measured. */
  const untilCount = (what: string, wanted: number, counts: (snapshot: VolumeSnapshot) => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const seen = new Set([...stores.VolumeSnapshot.all()].filter(counts).map(({ metadata }) => metadata.name));
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        leave();
        settle();
      };
      const leave = stores.VolumeSnapshot.onChange((before, after) => {
        if (after !== undefined && counts(after)) seen.add(after.metadata.name);
        if (after === undefined && before !== undefined) seen.delete(before.metadata.name);
        if (seen.size === wanted) end(resolve);
      });
      const timer = setTimeout(
        () => end(() => reject(new Error(`${seen.size} of ${wanted} snapshots ${what} after ${waitMsMax} ms`))),
        waitMsMax,
      );
      if (seen.size === wanted) end(resolve);
    });

  const takeOne = (index: number): Promise<unknown> => {
    const spec = {
      source: { persistentVolumeClaimName: claims[index % claims.length] ?? "" },
      volumeSnapshotClassName: snapshotClass,
    };
    return client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: nameAt(index) }, { spec }));
  };

  return {
    take: async (count) => {
      const startedAt = performance.now();
      const first = made;
      made += count;
      alive = [...alive, ...Array.from({ length: count }, (_, index) => nameAt(first + index))];
      const all = untilCount("were ready", alive.length, isReady);
      await Promise.all([inLanes(count, usersAtOnce, (index) => takeOne(first + index)), all]);
      return (performance.now() - startedAt) / 1_000;
    },
    removeAll: async () => {
      const startedAt = performance.now();
      const names = alive;
      alive = [];
      const gone = untilCount("were left", 0, isOwn);
      const remove = (index: number) => client.delete({ kind: "VolumeSnapshot", namespace, name: names[index] ?? "" });
      await Promise.all([inLanes(names.length, usersAtOnce, remove), gone]);
      return (performance.now() - startedAt) / 1_000;
    },
    close: () => ending.abort(),
  };
}
