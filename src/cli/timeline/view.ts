/** The life of an object as data: the text, the JSON and the picture show the same. */
import type { Ref } from "../../api/plan.ts";
import type { Millis } from "../../base/brand.ts";

/** Whose time it was. */
export const sides = ["controller", "sidecar", "driver", "API server", "user"] as const;
export type Party = (typeof sides)[number];

/** What has happened, and the field or event that tells it. */
export interface Moment {
  readonly code:
    | "requested"
    | "contentCreated"
    | "taken"
    | "reported"
    | "ready"
    | "failed"
    | "volumeCreated"
    | "bound"
    | "restored"
    | "deletionAsked"
    | "contentDeletionAsked";
  readonly atMs: Millis;
  readonly says: string;
  readonly object: Ref;
  /** The field or the event. */
  readonly from: string;
  /** Who was at work from the moment before until this one; absent: it ends nothing. */
  readonly side?: Party | undefined;
}

export interface Span {
  readonly side: Party;
  readonly fromMs: Millis;
  /** Undefined: it goes on. */
  readonly toMs: Millis | undefined;
  readonly says: string;
}

/** Why it goes on, as `explain` says it. */
export interface Blocked {
  readonly code: string;
  readonly says: string;
  readonly isStuck: boolean;
  /** The objects that are in the way, up to the one at which the cause lies. */
  readonly by: readonly Ref[];
}

export interface Timeline {
  readonly object: Ref;
  readonly nowMs: Millis;
  readonly moments: readonly Moment[];
  readonly spans: readonly Span[];
  readonly totals: readonly { readonly side: Party; readonly ms: Millis }[];
  readonly blocked: Blocked | undefined;
  readonly notRead: readonly string[];
}
