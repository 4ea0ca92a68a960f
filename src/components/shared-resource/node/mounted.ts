/**
 * The volumes that are mounted on this node, what each of them holds open, and which of them a share, a subject or a source concerns.
 *
 * Memory: per volume its request, what is in it and what it follows (memory.ts), what its record says, and what the last attempts to
 * write or to empty it came to. Lost with the process, and read from the records and the files again.
 */
import type { Key } from "../../../base/brand.ts";
import { createMultimap } from "../../../base/multimap.ts";
import { noMemory } from "./memory.ts";
import type { KnownVolume } from "./observe.ts";
import type { Reviews } from "./reviews.ts";
import type { Sources } from "./sources.ts";
import {
  type Source,
  type Subject,
  shareKey,
  sourceKey,
  subjectKey,
  subjectOf,
  type VolumeSpec,
  type Written,
} from "./types.ts";

export interface Mounted extends KnownVolume {
  spec: VolumeSpec;
  written: Written | undefined;
  /** What the record says, so that it is written only when that changes. */
  recorded: string | undefined;
  follows?: { readonly source: Source; readonly release: () => void } | undefined;
  readonly releaseReview: () => void;
  /** Why there was no room for the last set. */
  refusal?: string | undefined;
  /** What the last attempt to write or to empty failed with. */
  failure?: string | undefined;
}

interface Recorded {
  readonly written: Written | undefined;
  readonly source: string | undefined;
}

export interface MountedOptions {
  readonly reviews: Pick<Reviews, "hold">;
  readonly sources: Pick<Sources, "hold">;
}

export function createMounted({ reviews, sources }: MountedOptions) {
  const entries = new Map<string, Mounted>();
  const users = createMultimap<string, string>();
  const usersOf = (key: string): readonly Key[] => [...users.get(key)] as Key[];

  /** The new one is held before the old one is let go: they may be the same. */
  const follow = (entry: Mounted, source: Source | undefined): void => {
    const before = entry.follows;
    if (before !== undefined && source !== undefined && sourceKey(before.source) === sourceKey(source)) return;
    entry.follows = source && { source, release: sources.hold(source) };
    if (source !== undefined) users.add(sourceKey(source), entry.spec.id);
    if (before === undefined) return;
    users.delete(sourceKey(before.source), entry.spec.id);
    before.release();
  };

  return {
    get: (id: string): Mounted | undefined => entries.get(id),
    /** Holds what a volume needs; it is not one of the mounted volumes before it is added. */
    open(spec: VolumeSpec, recorded: Recorded = { written: noMemory.written, source: undefined }): Mounted {
      users.add(shareKey(spec), spec.id);
      users.add(subjectKey(subjectOf(spec)), spec.id);
      return {
        spec,
        written: recorded.written,
        recorded: recorded.source,
        releaseReview: reviews.hold(subjectOf(spec)),
      };
    },
    close(entry: Mounted): void {
      users.delete(shareKey(entry.spec), entry.spec.id);
      users.delete(subjectKey(subjectOf(entry.spec)), entry.spec.id);
      entry.releaseReview();
      follow(entry, undefined);
    },
    follow,
    add: (entry: Mounted): void => void entries.set(entry.spec.id, entry),
    remove: (id: string): void => void entries.delete(id),
    all: (): readonly Mounted[] => [...entries.values()],
    count: () => entries.size,
    ofShare: (share: Pick<VolumeSpec, "shareKind" | "share">) => usersOf(shareKey(share)),
    ofSubject: (subject: Subject) => usersOf(subjectKey(subject)),
    ofSource: (source: Source) => usersOf(sourceKey(source)),
  };
}

export type MountedVolumes = ReturnType<typeof createMounted>;
