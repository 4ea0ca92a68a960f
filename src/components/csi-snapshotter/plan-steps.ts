/** Building blocks of the plans: a call with its intent, an error that is reported once, the removal of the being-created annotation. */
import { refOf, statusError } from "../../api/builders.ts";
import { annotations } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import {
  type ClusterAction,
  type CodedEvent,
  type CodedMessage,
  type Next,
  type Plan,
  settled,
} from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { isSameError } from "../../base/same-error.ts";
import type { CsiCallAction } from "../../runtime/csi-calls.ts";
import type { ContentView } from "./observe.ts";
import type { PreparedCall, SnapshotCall } from "./plan-calls.ts";
import { asked, type SidecarReason } from "./reasons.ts";

export type CsiAction = CsiCallAction<VolumeSnapshotContent, SnapshotCall>;
/** Increments a metric. */
export interface CountAction {
  readonly kind: "count";
  readonly what: "secretMismatch";
}
export type SidecarAction = ClusterAction | CsiAction | CountAction;
/** Every decision says why. */
export interface SidecarPlan extends Plan<SidecarAction> {
  readonly reason: SidecarReason;
}

export const kind = "VolumeSnapshotContent";
export const doing = (
  reason: SidecarReason,
  next: Next,
  ...actions: readonly (readonly SidecarAction[])[]
): SidecarPlan => ({ actions: actions.flat(), next, reason });

export const withoutBeingCreated = {
  [annotations.beingCreated]: undefined,
  [annotations.snapshotterId]: undefined,
  [annotations.formerSnapshotterId]: undefined,
};
export const removeBeingCreated = (content: VolumeSnapshotContent): readonly ClusterAction[] =>
  edit(kind, content, { annotations: withoutBeingCreated });

/**
 * A call to the driver cannot be undone. From a stale cache, a new leader could take a snapshot that its predecessor has deleted, or
 * delete one that the user has just decided to retain. A version-guarded write prevents that, and where none is due, this read does.
 */
export const confirmed = (content: VolumeSnapshotContent): readonly ClusterAction[] => [
  { kind: "confirm", ref: refOf(kind, content), resourceVersion: content.metadata.resourceVersion },
];

/** Sends a call, after the writes that tell a successor of it. */
export const planCall = (
  { facts }: ContentView,
  { call }: Extract<PreparedCall, { kind: "call" }>,
  intent: readonly ClusterAction[],
  also: readonly SidecarAction[] = [],
): SidecarPlan => doing(asked(facts, call), settled, [{ kind: "csi", about: facts.content, call, intent }], also);

/** Something that is reported once, in status and event. */
interface Report {
  /** Reason of the event. */
  readonly event: string;
  readonly message: CodedMessage;
  readonly reason: SidecarReason;
}

/** Reports one kind of error once, in status and event. The content is reconciled again when the reply expires. */
export function planError(
  view: ContentView,
  { event: word, message, reason }: Report,
  alsoOnMetadata: readonly ClusterAction[] = [],
): SidecarPlan {
  const { content } = view.facts;
  if (isReported(content, message)) return doing(reason, later(view), alsoOnMetadata);
  const readyToUse = content.status?.readyToUse === true;
  const status = patchStatus(kind, content, content.status as JsonObject | undefined, {
    ...(content.status as JsonObject | undefined),
    readyToUse,
    error: statusError(message, view.nowMs),
  });
  // The metadata is written at the next reconcile: both writes are guarded by the current version.
  const next: Next = alsoOnMetadata.length > 0 ? { kind: "after", ms: 0 } : later(view);
  return doing(reason, next, status, [event(content, word, message)]);
}

export const later = ({ memory: { replyLeftMs } }: ContentView): Next =>
  replyLeftMs > 0 ? { kind: "after", ms: replyLeftMs } : settled;

export const isReported = ({ status }: VolumeSnapshotContent, message: CodedMessage): boolean =>
  isSameError(status?.error?.message ?? "", message);

export const event = (
  about: VolumeSnapshotContent,
  reason: string,
  message: CodedMessage,
  type: CodedEvent["type"] = "Warning",
): ClusterAction => ({ kind: "event", about, event: { type, reason, message } });
export const quoted = (fault: Fault): string => JSON.stringify(fault.message);
