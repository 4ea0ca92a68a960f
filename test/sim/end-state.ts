/** What is left at the end, without what chance decides: uids, versions, times. Two runs of one script must end the same. */
import type { KubeObject } from "../../src/api/types.ts";
import { wasLeft } from "./monitors/volume.ts";
import type { Seen } from "./record.ts";

export function endStateOf(seen: Seen): string {
  const names = new Map<string, string>();
  for (const { object } of [...seen.everyPast("VolumeSnapshot"), ...seen.everyPast("PersistentVolumeClaim")]) {
    const { uid, namespace, name } = object.metadata;
    if (!names.has(uid))
      names.set(
        uid,
        `${object.kind} ${namespace}/${name}#${[...names.values()].filter((known) => known.startsWith(`${object.kind} ${namespace}/${name}#`)).length}`,
      );
  }
  const plain = (text: string): string => {
    let result = text;
    for (const [uid, name] of names) result = result.replaceAll(uid, name);
    return result;
  };
  const lines: string[] = [];
  for (const kind of ["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolumeClaim", "PersistentVolume"] as const)
    for (const [key, object] of seen.objects(kind)) lines.push(plain(`${kind} ${key} ${gistOf(object)}`));
  for (const { id, volumeId } of seen.storage.values())
    lines.push(plain(`stored ${id.replace(/-\d+$/, "")} of ${volumeId}`));
  // What had to be left was reported: see V-6.
  for (const { name, bytes, source } of seen.volumes.values())
    if (!wasLeft(seen, name)) lines.push(plain(`volume ${name} of ${bytes} bytes from ${source.replace(/-\d+$/, "")}`));
  return lines.sort().join("\n");
}

function gistOf(object: KubeObject): string {
  const { metadata } = object;
  const { status = {}, spec = {} } = object as { status?: Record<string, unknown>; spec?: Record<string, unknown> };
  return JSON.stringify({
    finalizers: [...(metadata.finalizers ?? [])].sort(),
    annotations: Object.entries(metadata.annotations ?? {}).sort(),
    labels: Object.keys(metadata.labels ?? {}).sort(),
    isGoing: metadata.deletionTimestamp !== undefined,
    policy: spec.deletionPolicy,
    className: spec.volumeSnapshotClassName,
    ready: status.readyToUse,
    bound: status.boundVolumeSnapshotContentName,
    handle: typeof status.snapshotHandle === "string" ? status.snapshotHandle.replace(/-\d+$/, "") : undefined,
    isDated: status.creationTime !== undefined,
    size: String(status.restoreSize),
    isWrong: status.error !== undefined,
    phase: status.phase,
    volume: spec.volumeName,
    reclaims: spec.persistentVolumeReclaimPolicy,
  });
}
