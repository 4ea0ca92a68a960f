/**
 * What is known about requests that may still land. A request whose reply is missing can be carried out minutes later, also after its
 * process has ended. It names the version that it was decided for, so any later write of the object makes it fail: that write is the
 * fence (docs/decisions/0025). This file remembers, per object, which of the two this process has sent last; fenced-writes.ts sends.
 *
 * The mark is what the requests put on and take off: a finalizer, an annotation. In the cache it proves little, because a removal may
 * be under way, sent by this process or by a predecessor.
 *
 * Memory: a word and a version for each of the last objects, up to a bound. What is lost with it: one write more than needed.
 */
import type { KindName } from "../api/kinds.ts";
import { editByReplacing, renewByReplacing } from "../api/patches.ts";
import type { ClusterAction } from "../api/plan.ts";
import type { KubeObject } from "../api/types.ts";
import { createLru } from "../base/lru.ts";
import { isNewer, isSameOrOlder } from "./version.ts";

/** none: the mark is off. doubtful: it is on, and a request that removes it may be under way. certain: it is on, and none can land. */
export type Protection = "none" | "doubtful" | "certain";

export interface Fence {
  /** To be called before a request is sent that takes the mark off this version: its reply may get lost. */
  willRemove(object: KubeObject): void;
  /** To be called when a write that puts the mark on, or renews it, has been answered: every request before it fails. */
  hasWritten(object: KubeObject): void;
  /** The mark is off, or the object is gone: there is nothing left to keep out. */
  forget(uid: string): void;
  /** Whether our removal may still land on this version. A newer one has made it fail, or has been written by it. */
  mayLand(object: KubeObject): boolean;
  /** How far a finalizer that is our mark can be relied on. */
  protectionBy(finalizer: string, object: KubeObject): Protection;
  /** Keeps what is known of the object from being forgotten first. */
  use(uid: string): void;
}

interface Known {
  /** Which of the two was sent last. */
  readonly last: "written" | "removal";
  /** The newest version that a removal names; "": there was none. */
  readonly removedFrom: string;
}

export function createFence(sizeMax: number): Fence {
  /** Keyed by uid: an object of the same name that comes later is another one. */
  const known = createLru<Known>(sizeMax);
  return {
    willRemove: ({ metadata: { uid, resourceVersion } }) => {
      const { removedFrom = "" } = known.get(uid) ?? {};
      known.set(uid, { last: "removal", removedFrom: laterOf(removedFrom, resourceVersion) });
    },
    hasWritten: ({ metadata: { uid } }) => {
      const { removedFrom = "" } = known.get(uid) ?? {};
      known.set(uid, { last: "written", removedFrom });
    },
    forget: (uid) => known.delete(uid),
    mayLand: ({ metadata: { uid, resourceVersion } }) => {
      const { removedFrom = "" } = known.get(uid) ?? {};
      return removedFrom !== "" && isSameOrOlder(resourceVersion, removedFrom);
    },
    protectionBy: (finalizer, object) => {
      if (object.metadata.finalizers?.includes(finalizer) !== true) return "none";
      const last = known.get(object.metadata.uid)?.last;
      if (last === "written") return "certain";
      // It was there before this process, and nothing can be written that renews it: it is trusted.
      return last === undefined && !isRenewable(finalizer, object) ? "certain" : "doubtful";
    },
    use: (uid) => {
      const entry = known.get(uid);
      if (entry !== undefined) known.set(uid, entry);
    },
  };
}

/** Moving a finalizer within the list is a write that changes nothing else. With this one alone there is nothing to move. */
export const isRenewable = (finalizer: string, { metadata }: KubeObject): boolean =>
  metadata.finalizers?.some((name) => name !== finalizer) === true;

/** What makes a doubtful finalizer certain. Where nothing can be renewed, it is removed again: then the outcome of the removal is known. */
export const renewal = (kind: KindName, object: KubeObject, finalizer: string): readonly ClusterAction[] =>
  isRenewable(finalizer, object)
    ? renewByReplacing(kind, object, finalizer)
    : editByReplacing(kind, object, { removeFinalizers: [finalizer] });

/** "" is before all. */
export const laterOf = (one: string, other: string): string => (one === "" || isNewer(other, one) ? other : one);
