/** One content, for what its snapshot's own plan does not see: a wrong source, and a finalizer that went missing. */

import { finalizers } from "../../api/names.ts";
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
  const isBound = snapshot !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;
  if (!isBound || content.metadata.deletionTimestamp !== undefined) return nothing;
  return {
    actions: edit("VolumeSnapshotContent", content, { addFinalizers: [finalizers.contentBound] }),
    next: settled,
  };
}
