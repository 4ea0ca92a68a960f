/**
 * Writes that the API server refuses until an administrator acts: a missing right, an admission rule. No plan knows of them, and few
 * users may read our log. So an event reports them, with upstream's reasons.
 */
import type { CodedEvent } from "../../api/plan.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import { type ErrorCode, withCode } from "../../errors/codes.ts";
import type { Failure } from "../../runtime/controller.ts";
import type { SnapshotAction } from "./plan-steps.ts";

/** Undefined for errors that pass by themselves. */
export function refusedWriteEvent(
  snapshot: VolumeSnapshot,
  { reason, action }: Failure<SnapshotAction>,
): CodedEvent | undefined {
  if (action === undefined || !isFault(reason, "PermissionDenied", "Invalid", "InvalidArgument", "TooLarge"))
    return undefined;
  const [word, code, text] = reasonAndText(snapshot, action, reason);
  return { type: "Warning", reason: word, message: withCode(text, code) };
}

function reasonAndText(
  snapshot: VolumeSnapshot,
  action: SnapshotAction,
  { message: why }: Fault,
): readonly [reason: string, ErrorCode, text: string] {
  if (action.kind === "create")
    return [
      "CreateSnapshotContentFailed",
      "SNAP-251",
      `Error creating volume snapshot content object for snapshot ${keyOf(snapshot)}: ${why}.`,
    ];
  if (action.kind === "replace")
    return ["ErrorPVCFinalizer", "SNAP-252", `Error check and update PVC Finalizer for VolumeSnapshot: ${why}`];
  if (action.kind === "patch" && action.ref.kind === "VolumeSnapshot")
    return action.subresource === "status"
      ? ["SnapshotStatusUpdateFailed", "SNAP-253", `Snapshot status update failed, ${why}`]
      : ["SnapshotFinalizerError", "SNAP-254", `Failed to check and update snapshot: ${why}`];
  return snapshot.metadata.deletionTimestamp === undefined
    ? ["SnapshotBindFailed", "SNAP-255", `Snapshot failed to bind VolumeSnapshotContent, ${why}`]
    : ["SnapshotContentObjectDeleteError", "SNAP-256", `Failed to delete snapshot content API object: ${why}`];
}
