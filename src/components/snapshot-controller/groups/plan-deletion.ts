/**
 * A group that is being deleted: its content gets the being-deleted annotation before it is deleted, so that no sidecar sees a deletion
 * that it must not act on; its members are deleted with it, and stay until the group is gone. Our finalizer is removed last.
 */
import { annotations, finalizers } from "../../../api/names.ts";
import { edit } from "../../../api/patches.ts";
import type { ClusterAction } from "../../../api/plan.ts";
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { keyOf } from "../../../api/types.ts";
import { millisOf } from "../../../base/time.ts";
import { withCode, withoutCode } from "../../../errors/codes.ts";
import { type ControllerPlan, doing, waiting } from "../plan-steps.ts";
import { why } from "../reasons.ts";
import { contentNameOfGroup, type GroupFacts, type GroupView } from "./observe.ts";
import { groupErrorReport } from "./plan-steps.ts";

const undecidedPollMs = 2_000;

export function planGroupDeletion(view: GroupView): ControllerPlan {
  const { group, content, owned } = view.facts;
  if (!group.metadata.finalizers?.includes(finalizers.groupBound))
    return doing(why("Released", "the group has no finalizer of the snapshot-controller"));
  const used = planUse(view);
  if (used !== undefined) return used;
  const members = owned.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(deletionOf);
  if (content !== undefined && belongsTo(content, group)) return planContentDeletion(view, content, members);
  const gone = `VolumeGroupSnapshotContent ${contentNameOfGroup(group)} is gone, or belongs to another group`;
  return doing(
    why("Released", `${gone}: our finalizer is removed`),
    confirmContent(view.facts),
    members,
    release(group),
  );
}

const belongsTo = ({ spec }: VolumeGroupSnapshotContent, { metadata }: VolumeGroupSnapshot): boolean =>
  spec.volumeGroupSnapshotRef?.uid === metadata.uid;

/** A member in use by a restore holds its group: the driver would delete the data while it is read. */
function planUse(view: GroupView): ControllerPlan | undefined {
  const { group, restoring, isRestoringUndecided } = view.facts;
  const sinceMs = millisOf(group.metadata.deletionTimestamp);
  const [reader] = restoring;
  if (reader !== undefined) {
    const { namespace, name } = reader.claim.metadata;
    const who =
      reader.grant === undefined ? keyOf(reader.claim) : `another namespace, by ReferenceGrant ${reader.grant}`;
    const message = withCode(`A member of the group is being used to restore a PVC: ${who}`, "SNAP-268");
    const ref = { kind: "PersistentVolumeClaim", namespace, name } as const;
    const report = groupErrorReport(view, "SnapshotDeletePending", message);
    return doing(why("InUseByClaim", message, reader.grant === undefined ? [ref] : [], sinceMs), report);
  }
  return isRestoringUndecided
    ? waiting(
        why("WaitsForGrants", "it is not known yet whether a claim is restored from a member", [], sinceMs),
        undecidedPollMs,
      )
    : undefined;
}

function planContentDeletion(
  view: GroupView,
  content: VolumeGroupSnapshotContent,
  members: readonly ClusterAction[],
): ControllerPlan {
  const { group } = view.facts;
  const name = `VolumeGroupSnapshotContent ${content.metadata.name}`;
  const annotate = edit("VolumeGroupSnapshotContent", content, {
    annotations: { [annotations.groupBeingDeleted]: "yes" },
  });
  if (content.spec.deletionPolicy === "Retain")
    return doing(
      why("Released", `${name} is kept, as its deletionPolicy Retain says`),
      annotate,
      members,
      release(group),
    );
  // In two reconciles, so that the deletion names the version it was decided for: an administrator may set Retain in between.
  if (annotate.length > 0)
    return doing(why("Writes", `${name} gets the being-deleted annotation, and is deleted then`), annotate);
  const { uid, resourceVersion } = content.metadata;
  if (content.metadata.deletionTimestamp === undefined)
    return doing(
      why("Writes", `${name} is deleted, and the members with it`),
      [
        {
          kind: "delete",
          ref: { kind: "VolumeGroupSnapshotContent", name: content.metadata.name, uid },
          resourceVersion,
        },
      ],
      members,
    );
  const said = content.status?.error?.message;
  const isNews = said !== undefined && said !== group.status?.error?.message;
  const report = isNews
    ? groupErrorReport(
        view,
        "GroupSnapshotDeleteError",
        withCode(
          `Waiting for ${name} to be deleted: ${withoutCode(said)}; it is tried again. To let it go and leave the data with the driver, set its spec.deletionPolicy to Retain`,
          "SNAP-268",
        ),
      )
    : [];
  const ref = { kind: "VolumeGroupSnapshotContent", name: content.metadata.name, uid } as const;
  const sinceMs = millisOf(group.metadata.deletionTimestamp);
  return doing(why("WaitsForContentDeletion", `${name} is being deleted`, [ref], sinceMs), members, report);
}

/** Removing the finalizer cannot be undone: a content that the cache does not have yet would be left without its group. */
const confirmContent = ({ group, content }: GroupFacts): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: { kind: "VolumeGroupSnapshotContent", name: contentNameOfGroup(group), uid: content?.metadata.uid },
    resourceVersion: content?.metadata.resourceVersion,
  },
];

const deletionOf = ({ metadata }: GroupFacts["owned"][number]): ClusterAction => ({
  kind: "delete",
  ref: { kind: "VolumeSnapshot", namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
  resourceVersion: metadata.resourceVersion,
});

const release = (group: VolumeGroupSnapshot): readonly ClusterAction[] =>
  edit("VolumeGroupSnapshot", group, { removeFinalizers: [finalizers.groupBound] });
