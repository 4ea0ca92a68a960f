/**
 * What the API server refuses and only people can mend: a right that is missing, an admission rule. No plan knows of it, and a
 * snapshot that waits without a word sends its user to our log, which few may read. So an event tells, under the reasons that
 * upstream has for it.
 */
import type { ClusterAction, EventText } from "../../api/plan.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import type { Failure } from "../../runtime/controller.ts";

/** Undefined for what passes by itself. */
export function refusedWriteEvent(
  snapshot: VolumeSnapshot,
  { reason, action }: Failure<ClusterAction>,
): EventText | undefined {
  if (action === undefined || !isFault(reason, "PermissionDenied", "Invalid", "InvalidArgument", "TooLarge"))
    return undefined;
  const [word, message] = reasonAndMessage(snapshot, action, reason);
  return { type: "Warning", reason: word, message };
}

function reasonAndMessage(
  snapshot: VolumeSnapshot,
  action: ClusterAction,
  { message: why }: Fault,
): readonly [string, string] {
  if (action.kind === "create")
    return [
      "CreateSnapshotContentFailed",
      `Error creating volume snapshot content object for snapshot ${keyOf(snapshot)}: ${why}.`,
    ];
  if (action.kind === "replace")
    return ["ErrorPVCFinalizer", `Error check and update PVC Finalizer for VolumeSnapshot: ${why}`];
  if (action.kind === "patch" && action.ref.kind === "VolumeSnapshot")
    return action.subresource === "status"
      ? ["SnapshotStatusUpdateFailed", `Snapshot status update failed, ${why}`]
      : ["SnapshotFinalizerError", `Failed to check and update snapshot: ${why}`];
  return snapshot.metadata.deletionTimestamp === undefined
    ? ["SnapshotBindFailed", `Snapshot failed to bind VolumeSnapshotContent, ${why}`]
    : ["SnapshotContentObjectDeleteError", `Failed to delete snapshot content API object: ${why}`];
}
