/** One group content, for what its group's own plan does not handle: no group, no driver, a missing finalizer. */
import { annotations, finalizers } from "../../../api/names.ts";
import { edit } from "../../../api/patches.ts";
import type { ClusterAction } from "../../../api/plan.ts";
import type { VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { millisOf } from "../../../base/time.ts";
import { withCode } from "../../../errors/codes.ts";
import { type ControllerPlan, doing } from "../plan-steps.ts";
import { why } from "../reasons.ts";
import type { GroupContentFacts, GroupContentView } from "./observe.ts";

const kind = "VolumeGroupSnapshotContent";

/**
 *   unbound ──▶ bound ──▶ leaving ──▶ (gone)      orphaned ──▶ leaving      driverless ──▶ (gone)
 *
 * orphaned: it is being deleted, and its group is gone and has not given it up. driverless: no sidecar removes it.
 */
export type GroupContentPhase = "unbound" | "bound" | "orphaned" | "leaving" | "driverless";

const isGivenUp = ({ metadata }: VolumeGroupSnapshotContent): boolean =>
  metadata.annotations?.[annotations.groupBeingDeleted] === "yes";

export function groupContentPhaseOf({ content, group }: GroupContentFacts): GroupContentPhase {
  const { uid } = content.spec.volumeGroupSnapshotRef ?? {};
  const isLeaving = content.metadata.deletionTimestamp !== undefined;
  if (isLeaving && !content.spec.driver && (isGivenUp(content) || !uid)) return "driverless";
  if (isLeaving && uid && group?.metadata.uid !== uid && !isGivenUp(content)) return "orphaned";
  if (isLeaving) return "leaving";
  return uid && group?.metadata.uid === uid ? "bound" : "unbound";
}

export function planGroupContent({ facts }: GroupContentView): ControllerPlan {
  const { content, group } = facts;
  const { namespace, name = "", uid } = content.spec.volumeGroupSnapshotRef ?? {};
  switch (groupContentPhaseOf(facts)) {
    case "driverless":
      return planWithoutDriver(content);
    case "orphaned": {
      // The next steps lead to a deletion at the driver: the server must confirm that the group is gone.
      const gone: ClusterAction = {
        kind: "confirm",
        ref: { kind: "VolumeGroupSnapshot", namespace, name },
        resourceVersion: group?.metadata.resourceVersion,
      };
      const annotate = edit(kind, content, { annotations: { [annotations.groupBeingDeleted]: "yes" } });
      return doing(why("Writes", "the content gets the being-deleted annotation: its group is gone"), [gone], annotate);
    }
    case "bound": {
      const write = edit(kind, content, { addFinalizers: [finalizers.groupContentBound] });
      return doing(why(write.length > 0 ? "Writes" : "Settled", "the content has its group and our finalizer"), write);
    }
    case "leaving":
      return isGivenUp(content)
        ? doing(why("WaitsForSidecar", `csi-snapshotter of driver ${content.spec.driver} deletes the group`))
        : doing(
            why(
              "WaitsForDeletionConfirmed",
              `VolumeGroupSnapshot ${namespace}/${name} has not given up the content, which is being deleted`,
              [{ kind: "VolumeGroupSnapshot", namespace, name, uid }],
              millisOf(content.metadata.deletionTimestamp),
            ),
          );
    default:
      return doing(why("Settled", "the content is kept without its group, or waits for it"));
  }
}

/** The event comes before the write: after a crash in between it is sent twice, not never. */
function planWithoutDriver(content: VolumeGroupSnapshotContent): ControllerPlan {
  const write = edit(kind, content, { removeFinalizers: [finalizers.groupContentBound] });
  const handle = content.status?.volumeGroupSnapshotHandle;
  const message = withCode(
    `Group content ${content.metadata.name} is let go: spec.driver is empty, so no csi-snapshotter deletes what belongs to it, and group "${handle ?? ""}" may be left at the driver`,
    "SNAP-269",
  );
  const left: readonly ClusterAction[] =
    handle === undefined || write.length === 0 || content.spec.deletionPolicy === "Retain"
      ? []
      : [{ kind: "event", about: content, event: { type: "Warning", reason: "GroupSnapshotLeftAtDriver", message } }];
  return doing(why("Released", "spec.driver is empty: our finalizer is removed"), left, write);
}
