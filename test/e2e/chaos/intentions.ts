/** What the users want to be true at the end, written down outside of the system under test. */
import type { DeletionPolicy } from "../../../src/api/types.ts";

export interface Intention {
  readonly name: string;
  readonly uid: string;
  readonly policy: DeletionPolicy;
  /**
   * Deleted only after it was seen ready: to note what is retained, or because a content of one's own that no component has
   * seen yet stays, as nothing says whose it was.
   */
  readonly looksFirst: boolean;
  /** Known once it was seen ready. */
  bound?: { readonly content: string; readonly handle: string };
}

export interface Intentions {
  /** Snapshots that are to be there, by name. */
  readonly snapshots: Map<string, Intention>;
  /** Contents whose snapshot was deleted and that stay, with their handles. */
  readonly retained: Map<string, string>;
  /** Handles that no content may name any more, and that must still be in the storage. */
  readonly letGo: Set<string>;
  readonly claims: Set<string>;
  /** Those among them that must have a volume of their own making. */
  readonly provisioned: Set<string>;
  /** What a user tried for minutes without success. */
  readonly complaints: string[];
  readonly counters: Readonly<Record<string, number>>;
  count(what: string): void;
  someRetained(): string | undefined;
  /** A released snapshot, for a user who adopts it. */
  takeBack(): string | undefined;
}

export function createIntentions(): Intentions {
  const retained = new Map<string, string>();
  const letGo = new Set<string>();
  const counters: Record<string, number> = {};
  return {
    snapshots: new Map(),
    retained,
    letGo,
    claims: new Set(),
    provisioned: new Set(),
    complaints: [],
    counters,
    count: (what) => {
      counters[what] = (counters[what] ?? 0) + 1;
    },
    someRetained: () => retained.keys().next().value,
    takeBack: () => {
      const handle = letGo.values().next().value;
      if (handle !== undefined) letGo.delete(handle);
      return handle;
    },
  };
}
