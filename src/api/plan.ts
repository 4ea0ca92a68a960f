/**
 * A plan is data: what to write or call, in order, and when to look again. Planners are pure; runtime/action-handlers.ts performs
 * actions one after the other and stops at the first failure, because the next pass plans anew from what is true then.
 */
import type { Brand, Millis } from "../base/brand.ts";
import type { JsonObject } from "../base/json.ts";
import type { KindName } from "./kinds.ts";
import type { Reason } from "./reasons.ts";
import type { Draft, KubeObject } from "./types.ts";

/** Which object, and which incarnation of it. */
export interface Ref<K extends KindName = KindName> {
  readonly kind: K;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

export type Patch =
  | { readonly type: "merge"; readonly body: JsonObject }
  | { readonly type: "json"; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: "strategic"; readonly body: JsonObject }
  | { readonly type: "apply"; readonly body: JsonObject; readonly fieldManager: string; readonly force?: boolean };

export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Text for a user that ends in a stable code; src/errors has the codes and makes such messages. */
export type CodedMessage = Brand<string, "CodedMessage">;
/** The events of our components. Those that Kubernetes itself words, a lease's say, have no code. */
export interface CodedEvent extends EventText {
  readonly message: CodedMessage;
}

export type ClusterAction =
  | { readonly kind: "create"; readonly ref: Ref; readonly object: Draft }
  | { readonly kind: "patch"; readonly ref: Ref; readonly patch: Patch; readonly subresource?: "status" }
  /** For kinds whose customary RBAC grants update but not patch: the object exactly as read, plus the change, guarded by its version. */
  | { readonly kind: "replace"; readonly ref: Ref; readonly object: KubeObject; readonly subresource?: "status" }
  | { readonly kind: "delete"; readonly ref: Ref; readonly resourceVersion: string }
  /** Goes on only if the server still has what the cache had: this version, or nothing. For what cannot be taken back. */
  | {
      readonly kind: "confirm";
      readonly ref: Ref;
      readonly resourceVersion: string | undefined;
      /** A version that the server has told this very process in answer to a request needs no more asking. */
      readonly trustsReplies?: true;
    }
  /** The same for all objects of a kind: goes on only if the server has no other objects, nor other versions, than the cache. */
  | { readonly kind: "relist"; readonly ref: Pick<Ref, "kind"> }
  | { readonly kind: "event"; readonly about: KubeObject; readonly event: CodedEvent };

export type Next = { readonly kind: "settled" } | { readonly kind: "after"; readonly ms: Millis };
export const settled: Next = { kind: "settled" };

/** `Action` adds a component's own actions (a CSI call, say) to those every component has. */
export interface Plan<Action = ClusterAction> {
  readonly actions: readonly Action[];
  readonly next: Next;
  /** Why: for the log, the gauge of waiting objects, and whoever explains an object. */
  readonly reason: Reason;
}
export type Planner<View, Action = ClusterAction> = (view: View) => Plan<Action>;
