/**
 * A snapshot that is being deleted. Its content gets the being-deleted annotation before it is deleted, so that no sidecar sees a
 * deletion that it must not act on. Our finalizers are removed last.
 */
import { annotations, finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import type { ClusterAction, CodedMessage, Ref } from "../../api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { millisOf } from "../../base/time.ts";
import { fix, withCode, withoutCode } from "../../errors/codes.ts";
import { belongsTo } from "../../rules/binding-rules.ts";
import { ownerGroupOf } from "../../rules/group-members.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import type { ObjectName } from "./memory.ts";
import type { SnapshotFacts, SnapshotView } from "./observe.ts";
import { isGivenUp } from "./phase-content.ts";
import {
  type ControllerPlan,
  confirmContent,
  doing,
  errorReport,
  event,
  type SnapshotPlan,
  waiting,
} from "./plan-steps.ts";
import { contentIsLeaving, why } from "./reasons.ts";
import type { RestoringClaim } from "./restoring.ts";

const undecidedPollMs = 2_000;
const snapshotFinalizers = [finalizers.snapshotAsSource, finalizers.snapshotBound];

export function planDeletion(view: SnapshotView): SnapshotPlan {
  const { snapshot, content } = view.facts;
  const { metadata } = snapshot;
  const kept = planMembership(view);
  if (kept !== undefined) return kept;
  const { group } = view.facts;
  const ownFinalizers = [...snapshotFinalizers, ...(group.kind === "gone" ? [finalizers.snapshotInGroup] : [])];
  if (!ownFinalizers.some((name) => metadata.finalizers?.includes(name)))
    return doing(why("Released", "the snapshot has no finalizer of the snapshot-controller"));
  if (content !== undefined && belongsTo(content, snapshot))
    return planUse(view, content) ?? planContentDeletion(view, content);
  const name = `VolumeSnapshotContent ${contentNameOf(snapshot)}`;
  const gone = content === undefined ? `${name} is gone` : `${name} belongs to another snapshot`;
  return doing(why("Released", `${gone}: our finalizers are removed`), confirmContent(view.facts), release(view.facts));
}

/** The snapshot is kept while claims are restored from it, or while that is not known. Undefined: its content can go. */
function planUse({ facts, memory }: SnapshotView, content: VolumeSnapshotContent): SnapshotPlan | undefined {
  const { snapshot, restoring } = facts;
  // Only a snapshot that is shown ready can be restored. Waiting for a claim that waits for readiness would be a deadlock.
  if (content.status?.readyToUse !== true || snapshot.status?.readyToUse !== true) return undefined;
  const sinceMs = millisOf(snapshot.metadata.deletionTimestamp);
  const [reader] = restoring;
  if (reader !== undefined) {
    const pending = withCode(`Snapshot is being used to restore a PVC: ${restoreOf(reader, snapshot)}`, "SNAP-241");
    return doing(why("InUseByClaim", pending, refsOf(reader, snapshot), sinceMs), [
      event(snapshot, "Warning", "SnapshotDeletePending", pending),
    ]);
  }
  // A snapshot that is released before the grants are known cannot be kept any more.
  if (facts.isRestoringUndecided) {
    const unknown = "it is not known yet whether a ReferenceGrant lets a claim be restored from the snapshot";
    return waiting(why("WaitsForGrants", unknown, [], sinceMs), undecidedPollMs);
  }
  const isBeingDeleted = content.metadata.deletionTimestamp !== undefined && isGivenUp(content);
  if (memory.areClaimsRead || isBeingDeleted) return undefined;
  const { namespace } = snapshot.metadata;
  const unlisted = `the claims of namespace ${namespace} are listed: one may be restored from the snapshot`;
  const reason = why("WaitsForLists", unlisted, [], sinceMs);
  return { ...doing(reason), actions: [{ kind: "readClaims", snapshot }] };
}

function planContentDeletion({ facts, memory, nowMs }: SnapshotView, content: VolumeSnapshotContent): ControllerPlan {
  const { snapshot } = facts;
  const name = `VolumeSnapshotContent ${content.metadata.name}`;
  const annotate = edit("VolumeSnapshotContent", content, { annotations: { [annotations.beingDeleted]: "yes" } });
  const unread = memory.missingClaims.map(absence);
  if (content.spec.deletionPolicy === "Retain")
    return doing(
      why("Released", `${name} is kept, as its deletionPolicy Retain says`),
      unread,
      annotate,
      release(facts),
    );
  // In two reconciles, so that the deletion names the version it was decided for: an administrator may set Retain in between.
  if (annotate.length > 0)
    return doing(why("Writes", `${name} gets the being-deleted annotation, and is deleted then`), unread, annotate);
  return content.metadata.deletionTimestamp === undefined
    ? doing(why("Writes", `${name} is deleted`), unread, [deletionOf(content)])
    : doing(contentIsLeaving(snapshot, content), deletionError(snapshot, content, nowMs));
}

const release = ({ snapshot, group }: SnapshotFacts): readonly ClusterAction[] => {
  const ofGroup = group.kind === "gone" ? [finalizers.snapshotInGroup] : [];
  const write = edit("VolumeSnapshot", snapshot, { removeFinalizers: [...snapshotFinalizers, ...ofGroup] });
  return group.kind === "gone" && write.length > 0 ? [...group.evidence, ...write] : write;
};

/** A member goes with its group only: alone it would leave a group that cannot be restored. Undefined: nothing keeps it. */
function planMembership({ facts: { snapshot, group } }: SnapshotView): SnapshotPlan | undefined {
  const owner = ownerGroupOf(snapshot);
  const sinceMs = millisOf(snapshot.metadata.deletionTimestamp);
  if (group.kind === "unknown") {
    const unknown = "it is not known yet whether the group of the snapshot exists";
    return waiting(why("PartOfGroup", unknown, [], sinceMs), undecidedPollMs);
  }
  if (group.kind !== "held" || owner === undefined) return undefined;
  const { namespace } = snapshot.metadata;
  const pending = withCode(
    `The snapshot is a member of VolumeGroupSnapshot ${namespace}/${owner.name}: ${fix("SNAP-267", "that VolumeGroupSnapshot")}`,
    "SNAP-267",
  );
  const owned: Ref = { kind: "VolumeGroupSnapshot", namespace, name: owner.name, uid: owner.uid };
  return doing(why("PartOfGroup", pending, [owned], sinceMs), [
    event(snapshot, "Warning", "SnapshotDeletePending", pending),
  ]);
}

/** The owner of the snapshot may not see, or delete, a claim of another namespace. */
const restoreOf = ({ claim, grant }: RestoringClaim, { metadata: { namespace } }: VolumeSnapshot): string =>
  grant === undefined
    ? keyOf(claim)
    : `${keyOf(claim)}, which ReferenceGrant ${namespace}/${grant} permits; the deletion goes on when CreateVolume has ended, or at once if that grant is removed`;

const refsOf = ({ claim, grant }: RestoringClaim, { metadata: { namespace } }: VolumeSnapshot): readonly Ref[] => {
  const restored: Ref = {
    kind: "PersistentVolumeClaim",
    namespace: claim.metadata.namespace,
    name: claim.metadata.name,
  };
  return grant === undefined ? [restored] : [restored, { kind: "ReferenceGrant", namespace, name: grant }];
};

/** Confirms that the claim is gone and was not only missed by a list: it may be restoring from the snapshot. */
const absence = ({ namespace, name }: ObjectName): ClusterAction => ({
  kind: "confirm",
  ref: { kind: "PersistentVolumeClaim", namespace, name },
  resourceVersion: undefined,
});

const deletionOf = ({ metadata: { name, uid, resourceVersion } }: VolumeSnapshotContent): ClusterAction => ({
  kind: "delete",
  ref: { kind: "VolumeSnapshotContent", name, uid },
  resourceVersion,
});

/** The user who deleted a snapshot looks at the snapshot, not at its content, to see why it still exists. */
function deletionError(
  snapshot: VolumeSnapshot,
  { metadata, status }: VolumeSnapshotContent,
  nowMs: Millis,
): readonly ClusterAction[] {
  const said = status?.error?.message;
  // An error that the snapshot already shows is about its creation; the next one comes when the deletion has failed.
  if (said === undefined || said === snapshot.status?.error?.message) return [];
  const text = `Waiting for VolumeSnapshotContent ${metadata.name} to be deleted: ${withoutCode(said)}; it is tried again. To let it go and leave the data with the driver, set its spec.deletionPolicy to Retain`;
  const message: CodedMessage = withCode(text, "SNAP-242");
  return errorReport(snapshot, { reason: "SnapshotDeleteError", message, readiness: "kept" }, nowMs);
}
