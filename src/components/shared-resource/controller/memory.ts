/**
 * What the controller remembers, one entry per share, by its uid:
 *
 * - the last look at the referenced object, and whether the condition that follows from it has been written. Lost: the reference is
 *   looked up again, and nothing is written if the condition is right.
 * - the reference with which a reserved name was counted. Lost: it is counted once more, by a counter that starts at 0 again.
 *
 * Entries go with their share.
 */
import type { ShareReference } from "../../../api/types.ts";
import type { Millis } from "../../../base/brand.ts";

/** What a look at the referenced object found. */
export type Finding = "found" | "missing" | "forbidden";

export interface Look {
  readonly generation: number | undefined;
  readonly reference: ShareReference;
  readonly finding: Finding;
  /** When the look was taken, on the monotonic clock. */
  readonly atMs: Millis;
  /** The condition is as this look wants it, or was, until somebody else changed it. */
  readonly isWritten: boolean;
}

/** What is remembered of one share. */
export interface ShareMemory {
  readonly look: (Look & { readonly ageMs: Millis }) | undefined;
  /** The reference with which the reserved name was counted. */
  readonly counted: string | undefined;
}

/** A process that has just started remembers this: with it, anybody can run phase and plan on a share read from a cluster. */
export const noMemory: ShareMemory = { look: undefined, counted: undefined };

export interface Memory {
  about(uid: string, elapsedMs: Millis): ShareMemory;
  looked(uid: string, look: Omit<Look, "isWritten">): void;
  written(uid: string): void;
  /** The reference that was counted last; undefined: none. */
  count(uid: string, reference: string | undefined): void;
  forget(uid: string): void;
}

export function createMemory(): Memory {
  const looks = new Map<string, Look>();
  const counted = new Map<string, string>();
  return {
    about: (uid, elapsedMs) => {
      const look = looks.get(uid);
      if (look === undefined) return { ...noMemory, counted: counted.get(uid) };
      return { look: { ...look, ageMs: elapsedMs - look.atMs }, counted: counted.get(uid) };
    },
    looked: (uid, look) => void looks.set(uid, { ...look, isWritten: false }),
    written: (uid) => {
      const look = looks.get(uid);
      if (look !== undefined) looks.set(uid, { ...look, isWritten: true });
    },
    count: (uid, reference) => {
      if (reference === undefined) counted.delete(uid);
      else counted.set(uid, reference);
    },
    forget: (uid) => {
      looks.delete(uid);
      counted.delete(uid);
    },
  };
}
