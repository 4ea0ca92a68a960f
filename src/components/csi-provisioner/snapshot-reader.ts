/**
 * VolumeSnapshots and their contents, for restores. Where VolumeSnapshots may be watched, the cache has them, and only the content is
 * read, at most once in a while for all restores of one snapshot; where they may not, both are read and kept for a moment, so that a burst of restores of
 * one snapshot costs one read.
 *
 * Memory: one pair for each snapshot that was restored lately, at most `pairsMax`. What is lost with it is read again.
 */
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import type { Key, Millis } from "../../base/brand.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { createLru } from "../../base/lru.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { SnapshotPair } from "./observe.ts";

export interface SnapshotReader {
  /** Undefined: to be read first. */
  pair(key: Key): SnapshotPair | undefined;
  read(key: Key, signal: AbortSignal): Promise<void>;
}

export interface SnapshotReaderOptions {
  readonly api: Pick<KubeApi, "get">;
  readonly world: Pick<World, "elapsed">;
  /** The cache of VolumeSnapshots, while there is one. */
  cached(): { get(key: Key): VolumeSnapshot | undefined } | undefined;
}

const pairsMax = 1_000;
/** For how long a pair counts that was read and is not watched. */
const unwatchedMs: Millis = 1_000;
/** For how long a content counts that was read for a snapshot that is watched. Its handle and its driver never change. */
const watchedMs: Millis = 10_000;

interface Read extends SnapshotPair {
  readonly atMs: Millis;
}

/** What the content depends on. A finalizer that comes or goes changes nothing. */
const versionOf = ({ metadata, status }: VolumeSnapshot): string =>
  [metadata.uid, status?.boundVolumeSnapshotContentName, status?.readyToUse, status?.restoreSize].join(" ");

export function createSnapshotReader({ api, world, cached }: SnapshotReaderOptions): SnapshotReader {
  const pairs = createLru<Read>(pairsMax);
  const reading = new Map<Key, Promise<void>>();

  const find = async <T>(request: Promise<T>): Promise<T | undefined> => {
    try {
      return await request;
    } catch (reason) {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    }
  };
  const readPair = async (key: Key, signal: AbortSignal): Promise<void> => {
    const [namespace, name] = String(key).split("/", 2) as [string, string];
    const watched = cached();
    const snapshot =
      watched === undefined
        ? await find(api.get({ kind: "VolumeSnapshot", namespace, name }, { signal }))
        : watched.get(key);
    const contentName = snapshot?.status?.boundVolumeSnapshotContentName;
    const content = contentName
      ? await find(api.get({ kind: "VolumeSnapshotContent", name: contentName }, { signal }))
      : undefined;
    pairs.set(key, { snapshot, content: content as VolumeSnapshotContent | undefined, atMs: world.elapsed() });
  };

  return {
    pair: (key) => {
      const found = pairs.get(key);
      const watched = cached();
      if (watched === undefined)
        return found !== undefined && world.elapsed() - found.atMs < unwatchedMs ? found : undefined;
      const snapshot = watched.get(key);
      if (!snapshot?.status?.boundVolumeSnapshotContentName) return { snapshot, content: undefined };
      const isCurrent =
        found?.snapshot !== undefined &&
        versionOf(found.snapshot) === versionOf(snapshot) &&
        world.elapsed() - found.atMs < watchedMs;
      return isCurrent ? { snapshot, content: found.content } : undefined;
    },
    read: async (key, signal) => {
      const started =
        reading.get(key) ??
        readPair(key, signal).finally(() => {
          reading.delete(key);
        });
      reading.set(key, started);
      await started.catch((reason: unknown) => {
        throw Fault.from(reason);
      });
    },
  };
}
