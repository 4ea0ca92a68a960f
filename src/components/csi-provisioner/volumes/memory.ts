/**
 * What the process remembers of a volume that a claim wants, or that a CreateVolume call may have made: the calls and their replies, what
 * is known of the stored call, and which requests may still arrive. Each part says in its own file what is lost with it.
 */
import type { Millis } from "../../../base/brand.ts";
import { type CallMemory, noCalls, type Remembered } from "../driver/remembered.ts";
import type { VolumeName } from "../identity.ts";
import type { IntentLog } from "../stored-calls/intent-log.ts";
import type { UnconfirmedClaims } from "./unconfirmed-claims.ts";
import type { VolumeWrites } from "./volume-writes.ts";

export interface VolumeMemory extends CallMemory {
  /** An attempt whose outcome nobody knows may have created the volume: a later refusal does not say that there is none. */
  readonly isUncertain: boolean;
  /** The stored call is as another process, or whoever else, has written it, and was not made from the claim by this process. */
  readonly isAdopted: boolean;
  /** Another process has noted that it was about to store the PersistentVolume: its owner may have retained it, and it may be gone. */
  readonly mayBePublished: boolean;
  /** How long a request that was sent before may still store the PersistentVolume: while its claim is there, its volume is kept. */
  readonly lateVolumeMs: Millis;
  /** The cache may be behind: the server has to confirm the claim before CreateVolume is sent for the first time. */
  readonly isUnconfirmed: boolean;
}

/** Nothing was sent and nothing is stored: with it, anybody can run phase and plan on a claim read from a cluster. */
export const noVolumeMemory: VolumeMemory = {
  ...noCalls,
  isUncertain: false,
  isAdopted: false,
  mayBePublished: false,
  lateVolumeMs: 0,
  isUnconfirmed: false,
};

export interface VolumeMemories {
  about(name: VolumeName): VolumeMemory;
}

export interface VolumeMemoryParts {
  readonly remembered: Pick<Remembered, "about">;
  readonly intents: Pick<IntentLog, "isUncertain" | "isAdopted" | "mayBePublished">;
  readonly writes: Pick<VolumeWrites, "lateMs">;
  readonly unconfirmed: Pick<UnconfirmedClaims, "has">;
  /** The uid of the claim that wants the volume. */
  claimUidOf(name: VolumeName): string | undefined;
}

export const createVolumeMemory = (parts: VolumeMemoryParts): VolumeMemories => ({
  about: (name) => {
    const { remembered, intents, writes, unconfirmed, claimUidOf } = parts;
    const claimUid = claimUidOf(name);
    return {
      ...noVolumeMemory,
      ...remembered.about(name),
      isUncertain: intents.isUncertain(name),
      isAdopted: intents.isAdopted(name),
      mayBePublished: intents.mayBePublished(name),
      lateVolumeMs: writes.lateMs(name),
      isUnconfirmed: claimUid !== undefined && unconfirmed.has(claimUid),
    };
  },
});
