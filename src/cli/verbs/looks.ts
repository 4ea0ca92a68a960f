/** When a snapshot is taken, and a claim restored. Pure. */
import type { PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import type { Look } from "../waiting.ts";

export function lookAtTaken({ status = {}, metadata }: VolumeSnapshot): Look {
  if (status.readyToUse !== true)
    return { kind: "waiting", for: `VolumeSnapshot ${metadata.namespace}/${metadata.name} is not ready` };
  const { restoreSize } = status;
  return { kind: "done", detail: restoreSize === undefined ? "ready" : `ready, ${restoreSize}` };
}

export function lookAtRestored({ status, spec, metadata }: PersistentVolumeClaim): Look {
  if (status?.phase === "Bound") return { kind: "done", detail: `bound to volume ${spec?.volumeName}` };
  return {
    kind: "waiting",
    for: `PersistentVolumeClaim ${metadata.namespace}/${metadata.name} is ${status?.phase ?? "Pending"}`,
  };
}
