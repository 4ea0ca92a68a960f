/** One content, for what its snapshot's own plan does not see: a wrong source, and a finalizer that went missing. */

import { annotations, finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import { nothing, type Plan, settled } from "../../api/plan.ts";
import type { ContentView } from "./observe.ts";

export function planContent({ content, snapshot }: ContentView): Plan {
  const { volumeHandle, snapshotHandle } = content.spec.source ?? {};
  if (Boolean(volumeHandle) === Boolean(snapshotHandle)) {
    const message = "Exactly one of VolumeHandle and SnapshotHandle should be specified";
    return {
      actions: [
        { kind: "event", about: content, event: { type: "Warning", reason: "ContentValidationError", message } },
      ],
      next: settled,
    };
  }
  if (isLeftBehind({ content, snapshot })) return planGoing({ content, snapshot });
  const isBound = snapshot !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;
  if (!isBound || content.metadata.deletionTimestamp !== undefined) return nothing;
  return {
    actions: edit("VolumeSnapshotContent", content, { addFinalizers: [finalizers.contentBound] }),
    next: settled,
  };
}

/** Somebody deletes it, and its snapshot, which would confirm that, is gone: by force, say, or before the content was there. */
const isLeftBehind = ({ content: { metadata, spec }, snapshot }: ContentView): boolean =>
  metadata.deletionTimestamp !== undefined &&
  metadata.annotations?.[annotations.beingDeleted] !== "yes" &&
  Boolean(spec.volumeSnapshotRef?.uid) &&
  snapshot?.metadata.uid !== spec.volumeSnapshotRef.uid;

/** The mark lets the sidecar delete at the driver: that the snapshot is gone must be true, not only cached. */
function planGoing({ content, snapshot }: ContentView): Plan {
  const { namespace, name = "" } = content.spec.volumeSnapshotRef;
  return {
    actions: [
      {
        kind: "confirm",
        ref: { kind: "VolumeSnapshot", namespace, name },
        resourceVersion: snapshot?.metadata.resourceVersion,
      },
      ...edit("VolumeSnapshotContent", content, { annotations: { [annotations.beingDeleted]: "yes" } }),
    ],
    next: settled,
  };
}
