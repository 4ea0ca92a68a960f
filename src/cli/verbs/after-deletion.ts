/** What becomes of the data when a VolumeSnapshot is deleted, in one line for whoever deletes it. Pure. */
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";

/** `content` is undefined where the caller may not read it. */
export function afterDeletion({ status }: VolumeSnapshot, content: VolumeSnapshotContent | undefined): string {
  const name = status?.boundVolumeSnapshotContentName;
  if (!name) return "it has no VolumeSnapshotContent yet: what the driver may have taken is deleted with it";
  if (content === undefined)
    return `VolumeSnapshotContent ${name} decides by spec.deletionPolicy whether the data is deleted; you may not read it`;
  const handle = content.status?.snapshotHandle ?? content.spec.source.snapshotHandle;
  const at = handle === undefined ? "what the driver has taken" : `snapshot ${handle} of driver ${content.spec.driver}`;
  return content.spec.deletionPolicy === "Retain"
    ? `${at} is kept, and so is VolumeSnapshotContent ${name} (deletionPolicy Retain)`
    : `${at} is deleted with it (deletionPolicy Delete)`;
}
