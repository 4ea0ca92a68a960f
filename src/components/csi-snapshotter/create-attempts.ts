/**
 * A term: the life of this process as the one sidecar that acts for its driver. Its name stands on every content whose cut it may
 * have asked for, so whoever comes after knows that it has to find out what became of that.
 *
 * A content that names this very term and that the driver was never asked about here is one that nobody was ever asked about, not
 * even if the cache is behind: the only one who could have is ourselves. So it takes neither a write nor a read to be sure of it.
 * Unless it is the second content of its snapshot, made after the first was taken away by force: the driver knows both by one name.
 */

import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { limits } from "../../base/limits.ts";
import { createLru } from "../../base/lru.ts";
import { isNewer, isSameOrOlder } from "../../kube/version.ts";
import type { CreateSent } from "./observe.ts";

export interface CreateAttempts {
  readonly name: string;
  /** To be told before the driver is asked to cut, and before our name is written on the content to that end. */
  willCreate(content: VolumeSnapshotContent): void;
  /** To be told before a mark is taken off, or a content let go: what the cache shows of it from then on may be the past. */
  willRemoveAnnotation(content: VolumeSnapshotContent): void;
  asked(content: VolumeSnapshotContent): CreateSent;
  /** Whether a request of ours to take the mark off may still arrive: it names this version, or a later one. */
  isAnnotationRemovalPending(content: VolumeSnapshotContent): boolean;
}

interface Memory {
  readonly asked: "here" | "let go";
  /** The version that the last request to take the mark off names; "": there was none. */
  readonly removedFrom: string;
}

export function createCreateAttempts(name: string, sizeMax: number = limits.askedContentsMax): CreateAttempts {
  const uids = createLru<Memory>(sizeMax);
  /** Of snapshots; the driver was asked to cut by a name that comes from them. */
  const namesSent = createLru<true>(sizeMax);
  let newest = "";
  /** Of what is not newer than this, some may have been forgotten. */
  let floor = "";
  const remember = ({ metadata: { uid, resourceVersion } }: VolumeSnapshotContent, memory: Memory): void => {
    if (uids.size() >= sizeMax && uids.get(uid) === undefined) floor = newest;
    newest = laterOf(newest, resourceVersion);
    uids.set(uid, memory);
  };
  return {
    name,
    willCreate: (content) => {
      const { removedFrom = "" } = uids.get(content.metadata.uid) ?? {};
      remember(content, { asked: "here", removedFrom });
      namesSent.set(snapshotUidOf(content), true);
    },
    willRemoveAnnotation: (content) => {
      const { uid, resourceVersion } = content.metadata;
      const { asked = "let go", removedFrom = "" } = uids.get(uid) ?? {};
      remember(content, { asked, removedFrom: laterOf(removedFrom, resourceVersion) });
    },
    isAnnotationRemovalPending: ({ metadata }) => {
      const { removedFrom = "" } = uids.get(metadata.uid) ?? {};
      return removedFrom !== "" && isSameOrOlder(metadata.resourceVersion, removedFrom);
    },
    asked: (content) => {
      const { metadata } = content;
      const known = uids.get(metadata.uid);
      if (known !== undefined) return known.asked;
      if (namesSent.get(snapshotUidOf(content))) return "perhaps";
      const isRemembered = floor === "" || isNewer(metadata.resourceVersion, floor);
      return isRemembered && metadata.annotations?.[annotations.snapshotterId] === name ? "never" : "perhaps";
    },
  };
}

/** An odd content may lack even that. Without a uid the driver is asked by no name. */
const snapshotUidOf = ({ spec }: VolumeSnapshotContent): string => spec.volumeSnapshotRef?.uid ?? "";

const laterOf = (one: string, other: string): string => (one === "" || isNewer(other, one) ? other : one);
