/**
 * VolumeSnapshots and their contents, for restores. Where both may be watched, nothing is read. Where only VolumeSnapshots may be watched,
 * the content is read, at most once in a while for all restores of one snapshot. Otherwise both are read and kept for a moment, so that a
 * burst of restores of one snapshot costs two reads.
 *
 * A restore from another namespace reads the content for itself alone.
 *
 * Memory: one pair for each snapshot that was restored lately, at most `pairsMax`. What is lost with it is read again.
 */
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import { Fault, isFault } from "../../../base/fault.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import type { KubeApi } from "../../../kube/api.ts";
import type { VolumeName } from "../identity.ts";

export interface SnapshotPair {
  readonly snapshot: VolumeSnapshot | undefined;
  readonly content: VolumeSnapshotContent | undefined;
}

export interface SnapshotReader {
  /** Undefined: to be read first. What was read for one attempt serves no other. */
  pair(key: Key, attempt?: VolumeName): SnapshotPair | undefined;
  read(key: Key, signal: AbortSignal, attempt?: VolumeName): Promise<void>;
  /** The attempt has begun: the next one reads anew. */
  forget(key: Key, attempt: VolumeName): void;
}

export interface SnapshotReaderOptions {
  readonly api: Pick<KubeApi, "get">;
  readonly world: Pick<World, "elapsed">;
  /** The cache of VolumeSnapshots, while there is one. */
  cached(): { get(key: Key): VolumeSnapshot | undefined } | undefined;
  /** The cache of VolumeSnapshotContents, while there is one. */
  contents(): { get(key: Key): VolumeSnapshotContent | undefined } | undefined;
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

export function createSnapshotReader({ api, world, cached, contents }: SnapshotReaderOptions): SnapshotReader {
  const pairs = createLru<Read>(pairsMax);
  const reading = new Map<string, Promise<void>>();

  const find = async <T>(request: Promise<T>): Promise<T | undefined> => {
    try {
      return await request;
    } catch (reason) {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    }
  };
  const idOf = (key: Key, attempt: VolumeName | undefined): string =>
    attempt === undefined ? key : `${key} ${attempt}`;
  const readPair = async (key: Key, attempt: VolumeName | undefined, signal: AbortSignal): Promise<void> => {
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
    pairs.set(idOf(key, attempt), {
      snapshot,
      content: content as VolumeSnapshotContent | undefined,
      atMs: world.elapsed(),
    });
  };

  /** What a cache lacks may only be late: it is read. */
  const cachedContent = (name: string): VolumeSnapshotContent | undefined => {
    const content = contents()?.get(keyIn(undefined, name));
    return content?.status?.snapshotHandle === undefined ? undefined : content;
  };

  return {
    pair: (key, attempt) => {
      const found = pairs.get(idOf(key, attempt));
      const watched = cached();
      if (watched === undefined)
        return found !== undefined && world.elapsed() - found.atMs < unwatchedMs ? found : undefined;
      const snapshot = watched.get(key);
      const contentName = snapshot?.status?.boundVolumeSnapshotContentName;
      if (!contentName) return { snapshot, content: undefined };
      const content = attempt === undefined ? cachedContent(contentName) : undefined;
      if (content !== undefined) return { snapshot, content };
      const isCurrent =
        found?.snapshot !== undefined &&
        versionOf(found.snapshot) === versionOf(snapshot) &&
        world.elapsed() - found.atMs < watchedMs;
      return isCurrent ? { snapshot, content: found.content } : undefined;
    },
    forget: (key, attempt) => pairs.delete(idOf(key, attempt)),
    read: async (key, signal, attempt) => {
      const id = idOf(key, attempt);
      const started =
        reading.get(id) ??
        readPair(key, attempt, signal).finally(() => {
          reading.delete(id);
        });
      reading.set(id, started);
      await started.catch((reason: unknown) => {
        throw Fault.from(reason);
      });
    },
  };
}
