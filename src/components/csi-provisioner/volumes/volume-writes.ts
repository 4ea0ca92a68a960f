/**
 * The requests that store PersistentVolumes: some are in flight, some may still arrive although nobody waits for their reply, and some
 * have stored a PersistentVolume that is not bound yet.
 *
 * Memory: a name for each request in flight. late-volumes.ts and unbound-volumes.ts say what they remember. What is lost with it: a
 * process that ends waits for no request.
 */
import type { PersistentVolume } from "../../../api/types.ts";
import type { Millis } from "../../../base/brand.ts";
import { isFault, isFinal } from "../../../base/fault.ts";
import type { World } from "../../../base/world.ts";
import { createTurns } from "../../../runtime/turns.ts";
import type { VolumeName } from "../identity.ts";
import { createLateVolumes } from "./late-volumes.ts";
import { createUnboundVolumes, type WatchedVolumes } from "./unbound-volumes.ts";

export interface VolumeWrites {
  /** Stores the PersistentVolume of this name in its turn. */
  store(name: VolumeName, send: () => Promise<void>): Promise<void>;
  isInFlight(name: VolumeName): boolean;
  /** Another process has sent such a request. */
  expect(name: VolumeName): void;
  /** For how long such a request, of whichever process, may still arrive. */
  lateMs(name: VolumeName): Millis;
  /** Whether requests are in flight, or what they stored waits until it is bound. */
  areUnderWay(): boolean;
}

export interface VolumeWritesOptions {
  readonly world: Pick<World, "elapsed">;
  readonly volumes: WatchedVolumes;
  volumeOf(name: VolumeName): PersistentVolume | undefined;
  /** A request has ended. What had to wait for it can go on. */
  onEnd(name: VolumeName): void;
}

/**
 * kube-controller-manager binds one claim after the other: in a burst, more requests of ours at once would only make it wait for its own.
 */
const atOnceMax = 4;

export function createVolumeWrites({ world, volumes, volumeOf, onEnd }: VolumeWritesOptions): VolumeWrites {
  const inTurn = createTurns(atOnceMax);
  const late = createLateVolumes(world);
  const unbound = createUnboundVolumes(volumes, volumeOf);
  const inFlight = new Set<VolumeName>();
  return {
    store: async (name, send) => {
      inFlight.add(name);
      try {
        await inTurn(send);
        unbound.add(name);
      } catch (reason) {
        // What the server has refused does not arrive later.
        if (!isFault(reason) || !isFinal(reason)) late.expect(name);
        throw reason;
      } finally {
        inFlight.delete(name);
        onEnd(name);
      }
    },
    isInFlight: (name) => inFlight.has(name),
    expect: late.expect,
    lateMs: late.leftMs,
    areUnderWay: () => inTurn.running() > 0 || unbound.areThere(),
  };
}
