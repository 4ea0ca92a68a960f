/**
 * PersistentVolumes that were stored and that kube-controller-manager has not bound yet. It binds one claim after the other: in a
 * burst, requests that can wait, events for example, would only delay its own.
 *
 * Memory: a name for each such PersistentVolume in the cache. What is lost with it: events of a burst are sent before its claims are bound.
 */
import type { PersistentVolume } from "../../../api/types.ts";
import { type VolumeName, volumeName } from "../identity.ts";

export interface UnboundVolumes {
  /** It has just been stored. */
  add(volumeName: VolumeName): void;
  areThere(): boolean;
}

export interface WatchedVolumes {
  onChange(listener: (before: PersistentVolume | undefined, after: PersistentVolume | undefined) => void): unknown;
}

export function createUnboundVolumes(
  volumes: WatchedVolumes,
  volumeOf: (name: VolumeName) => PersistentVolume | undefined,
): UnboundVolumes {
  const names = new Set<VolumeName>();
  volumes.onChange((before, after) => {
    const name = volumeName((after ?? before)?.metadata.name ?? "");
    if (names.has(name) && !isUnbound(after)) names.delete(name);
  });
  return {
    // It may have been bound before the reply to our request came.
    add: (name) => {
      if (isUnbound(volumeOf(name))) names.add(name);
    },
    areThere: () => names.size > 0,
  };
}

const isUnbound = (volume: PersistentVolume | undefined): boolean => {
  const phase = volume?.status?.phase ?? "Pending";
  return volume !== undefined && (phase === "Pending" || phase === "Available");
};
