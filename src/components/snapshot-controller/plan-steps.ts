/** What the plans of the three controllers are made of. */
import { statusError } from "../../api/builders.ts";
import { patchStatus } from "../../api/patches.ts";
import { type ClusterAction, type CodedEvent, type CodedMessage, type Plan, settled } from "../../api/plan.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { JsonObject } from "../../base/json.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import type { SnapshotViolation } from "../../rules/snapshot-violation.ts";
import type { SnapshotFacts } from "./observe.ts";
import type { ControllerReason } from "./reasons.ts";

/**
 * Lists the claims of the snapshot's namespace, and triggers the snapshot when they are in the cache. Watches of two kinds have no
 * common order: when the deletion of a snapshot is seen, a claim that was created before it may still be on its way.
 */
export interface ReadClaims {
  readonly kind: "readClaims";
  readonly snapshot: VolumeSnapshot;
}
export type SnapshotAction = ClusterAction | ReadClaims;

/** Every decision says why. */
export interface ControllerPlan extends Plan {
  readonly reason: ControllerReason;
}
export interface SnapshotPlan extends Plan<SnapshotAction> {
  readonly reason: ControllerReason;
}

export const doing = (reason: ControllerReason, ...actions: readonly (readonly ClusterAction[])[]): ControllerPlan => ({
  actions: actions.flat(),
  next: settled,
  reason,
});

/** Only that, and another look after so long. */
export const waiting = (
  reason: ControllerReason,
  ms: Millis,
  actions: readonly ClusterAction[] = [],
): ControllerPlan => ({ actions, next: { kind: "after", ms }, reason });

export const event = (
  about: VolumeSnapshot,
  type: CodedEvent["type"],
  reason: string,
  message: CodedMessage,
): ClusterAction => ({ kind: "event", about, event: { type, reason, message } });

/** An error of a snapshot is reported once, in the status and as an event. */
export function errorReport(
  snapshot: VolumeSnapshot,
  { reason, message, readiness }: Pick<SnapshotViolation, "reason" | "message" | "readiness">,
  nowMs: Millis,
): readonly ClusterAction[] {
  if (message === snapshot.status?.error?.message) return [];
  const error = statusError(message, nowMs);
  const status = { ...snapshot.status, error, ...(readiness === "false" ? { readyToUse: false } : {}) };
  return [
    ...patchStatus("VolumeSnapshot", snapshot, snapshot.status as JsonObject | undefined, status as JsonObject),
    event(snapshot, "Warning", reason, message),
  ];
}

/** Removing finalizers cannot be undone: a content that the cache does not have yet would be left without its snapshot. */
export const confirmContent = ({ snapshot, content }: SnapshotFacts): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: { kind: "VolumeSnapshotContent", name: contentNameOf(snapshot), uid: content?.metadata.uid },
    resourceVersion: content?.metadata.resourceVersion,
  },
];
