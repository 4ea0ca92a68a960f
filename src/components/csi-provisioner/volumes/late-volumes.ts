/**
 * PersistentVolumes that a request may still store, although nobody waits for its reply: a predecessor has sent it, or it got no reply
 * within its deadline. A create request names no version, so nothing keeps it out. If the volume were deleted meanwhile, its claim
 * would be bound to a PersistentVolume without a volume.
 *
 * Memory: a time for each of the last names, up to a bound. What is lost with it: a volume is deleted without this wait. After a
 * restart all stored calls count as those of a predecessor.
 */
import type { Millis } from "../../../base/brand.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import type { VolumeName } from "../identity.ts";

export interface LateVolumes {
  /** A request that stores it may be on its way, and was sent before now. */
  expect(volumeName: VolumeName): void;
  /** For how long it still may arrive. */
  leftMs(volumeName: VolumeName): Millis;
}

const volumesMax = 10_000;
/** kube-apiserver ends a request after a minute, unless it is told otherwise (`--request-timeout`). */
const lateMsMax: Millis = 60_000;

export function createLateVolumes(world: Pick<World, "elapsed">): LateVolumes {
  const untilMs = createLru<Millis>(volumesMax);
  return {
    expect: (volumeName) => void untilMs.set(volumeName, world.elapsed() + lateMsMax),
    leftMs: (volumeName) => Math.max((untilMs.get(volumeName) ?? 0) - world.elapsed(), 0),
  };
}
