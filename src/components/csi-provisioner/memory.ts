/**
 * What the provisioner remembers, and where. A process that ends loses all of it but the stored calls; each part says in its own file what
 * that costs. A plan sees its share of it as a value.
 */
import type { PersistentVolume } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import type { World } from "../../base/world.ts";
import type { ProvisionerStores } from "./caches.ts";
import type { ClaimIndex } from "./claims/claim-index.ts";
import { createRemembered, type Remembered } from "./driver/remembered.ts";
import type { VolumeName } from "./identity.ts";
import type { LookAgain } from "./look-again.ts";
import type { ProvisionerOptions } from "./options.ts";
import { createSourceMemory, type SourceMemories } from "./sources/memory.ts";
import {
  createSourceProtection,
  type SourceProtection,
  type SourceProtectionOptions,
} from "./sources/source-protection.ts";
import { createIntentLog, type IntentLog, type IntentLogOptions } from "./stored-calls/intent-log.ts";
import { createStoredMemory, type StoredMemories } from "./stored-volumes/memory.ts";
import { createVolumeMemory, type VolumeMemories } from "./volumes/memory.ts";
import { createUnconfirmedClaims, type UnconfirmedClaims } from "./volumes/unconfirmed-claims.ts";
import { createVolumeWrites, type VolumeWrites } from "./volumes/volume-writes.ts";

export interface ProvisionerMemory {
  readonly remembered: Remembered;
  readonly intents: IntentLog;
  readonly writes: VolumeWrites;
  readonly protection: SourceProtection;
  readonly unconfirmed: UnconfirmedClaims;
  /** What the plans see. */
  readonly ofVolumes: VolumeMemories;
  readonly ofStored: StoredMemories;
  readonly ofSources: SourceMemories;
  /** A call that another process has stored: its PersistentVolume may still be stored, too. */
  adopt(name: VolumeName): void;
}

export interface MemoryParts
  extends Omit<IntentLogOptions, "nameFor" | "adopted" | "world">,
    Pick<SourceProtectionOptions, "snapshotOf" | "replace"> {
  readonly world: World;
  readonly backoff: Backoff;
  readonly takingDelay?: Backoff | undefined;
  readonly options: Pick<ProvisionerOptions, "ownNode">;
  readonly stores: ProvisionerStores;
  readonly claims: ClaimIndex;
  readonly lookAgain: Pick<LookAgain, "volume" | "stored">;
  volumeOf(name: VolumeName): PersistentVolume | undefined;
}

export function createProvisionerMemory(parts: MemoryParts): ProvisionerMemory {
  const { world, stores, claims, lookAgain, volumeOf, options } = parts;
  const writes = createVolumeWrites({
    world,
    volumes: stores.PersistentVolume,
    volumeOf,
    onEnd: (name) => {
      // Its finalizer, or its deletion, has waited for the request.
      if (volumeOf(name) !== undefined) lookAgain.stored(name);
    },
  });
  const adopt = (name: VolumeName): void => {
    writes.expect(name);
    lookAgain.volume(name);
  };
  const intents = createIntentLog({ ...parts, nameFor: claims.nameFor, adopted: adopt });
  const remembered = createRemembered(world, parts.backoff, parts.takingDelay);
  const protection = createSourceProtection({
    ...parts,
    claimOf: (key) => stores.PersistentVolumeClaim.get(key),
    intents,
  });
  const unconfirmed = createUnconfirmedClaims(stores.PersistentVolumeClaim, stores.PersistentVolume, claims.claimOf);
  return {
    ...{ remembered, intents, writes, protection, unconfirmed, adopt },
    ofVolumes: createVolumeMemory({
      ...{ remembered, intents, writes, unconfirmed },
      claimUidOf: (name) => claims.claimOf(name)?.metadata.uid,
    }),
    ofStored: createStoredMemory(remembered, writes),
    ofSources: createSourceMemory(
      // Calls of other nodes are not known here: their claims are.
      (source) => protection.isUsed(source) || (options.ownNode !== undefined && claims.keysFrom(source).length > 0),
    ),
  };
}
