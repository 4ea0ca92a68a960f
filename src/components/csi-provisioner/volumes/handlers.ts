/** Performs what plans ask for of volumes: stores their PersistentVolumes, and takes claims for the own node. */
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { isFault } from "../../../base/fault.ts";
import type { CsiClient } from "../../../csi/client.ts";
import type { ActionHandlers } from "../../../runtime/action-handlers.ts";
import type { AttributesReader } from "../claims/attributes-reader.ts";
import { hasRoom } from "../driver/act.ts";
import type { Remembered } from "../driver/remembered.ts";
import { type VolumeName, volumeName } from "../identity.ts";
import type { LookAgain } from "../look-again.ts";
import type { ProvisionerAction } from "../plan-steps.ts";
import type { Reports } from "../reports.ts";
import { unstorable } from "./unstorable.ts";
import type { VolumeWrites } from "./volume-writes.ts";

export interface VolumeParts {
  readonly cluster: Pick<ActionHandlers<ProvisionerAction>, "create" | "replace">;
  readonly csi: Pick<CsiClient, "controller">;
  readonly remembered: Pick<Remembered, "forgetReply" | "forgetStray" | "delayTaking" | "taken">;
  readonly writes: Pick<VolumeWrites, "store">;
  readonly attributes: Pick<AttributesReader, "read">;
  readonly reports: Pick<Reports, "error">;
  readonly lookAgain: Pick<LookAgain, "volume" | "attributes">;
  claimOf(name: VolumeName): PersistentVolumeClaim | undefined;
}

type VolumeKind = "create" | "forgetStray" | "delayTaking" | "take" | "readAttributes";
export type VolumeHandlers = Pick<ActionHandlers<ProvisionerAction>, VolumeKind>;

export function createVolumeHandlers(parts: VolumeParts): VolumeHandlers {
  const { cluster, csi, remembered, writes, attributes, reports, lookAgain, claimOf } = parts;
  const delay = (name: VolumeName): void => lookAgain.volume(name, remembered.delayTaking(name));
  return {
    create: async (action, signal) => {
      const name = volumeName(action.ref.name);
      try {
        await writes.store(name, () => cluster.create(action, signal));
      } catch (reason) {
        const error = unstorable(claimOf(name), name, reason);
        if (error !== undefined) {
          reports.error(error.about, error.reason, error.message);
          // The next reply may make a better one of it.
          remembered.forgetReply(name);
        }
        throw reason;
      }
    },
    forgetStray: async ({ name }) => remembered.forgetStray(name),
    delayTaking: async ({ name }) => delay(name),
    take: async ({ name, claim, call }, signal) => {
      try {
        if (call !== undefined && !(await hasRoom(csi, call, signal))) return delay(name);
        await cluster.replace(claim, signal);
        remembered.taken(name);
      } catch (reason) {
        // Another node was quicker, or the claim has changed otherwise.
        if (!isFault(reason, "Conflict")) throw reason;
        delay(name);
      }
    },
    readAttributes: async ({ name }, signal) => {
      await attributes.read(name, signal);
      lookAgain.attributes(name);
    },
  };
}
