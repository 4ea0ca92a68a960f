/** What becomes of one call: the vocabulary that all fault families share. */
import type { FaultCode } from "../../src/base/fault.ts";

export const boundaryKinds = ["list", "get", "write", "watch", "csi"] as const;
export type BoundaryKind = (typeof boundaryKinds)[number];

/** A call of a component that is about to leave: the places where a fault can strike. */
export interface Boundary {
  readonly n: number;
  readonly process: string;
  readonly kind: BoundaryKind;
  readonly text: string;
}

export type Answer =
  | { readonly kind: "http"; readonly status: number; readonly reason: string; readonly retryAfterS?: number }
  | { readonly kind: "code"; readonly code: FaultCode }
  /** The first half of the true answer. */
  | { readonly kind: "truncated" }
  /** The connection breaks: no answer. */
  | { readonly kind: "reset" };

export interface Verdict {
  readonly crash?: "before" | "after-effect" | "after-reply";
  /** How long the component stays down. */
  readonly downMs?: number;
  /** Its sender is stopped when it has handed the call over, before the first byte. */
  readonly heldBack?: true;
  /** How long the request is under way. */
  readonly delayMs?: number;
  /** The call reaches the other side and has its effect. */
  readonly effect: boolean;
  /** What is answered instead of the truth. */
  readonly answer?: Answer;
  readonly replyMs?: number;
  /** No answer at all, for ever. */
  readonly silent?: true;
  /** A request that outlives its sender may create an unwanted object; the end state then differs. */
  readonly endsOtherwise?: boolean;
  /** A list is answered as it was so many changes ago. */
  readonly staleBy?: number;
}

export const pass: Verdict = { effect: true };
