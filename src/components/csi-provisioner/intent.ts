/** A CreateVolume call that may have been sent, as it is stored: all that is needed to repeat it, or to undo it, without its claim. */
import type { CreateVolumeCall } from "./call.ts";
import type { SecretsByRole } from "./parameters.ts";

export interface Intent {
  readonly claim: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly call: CreateVolumeCall;
  /** The rest of what the PersistentVolume is made of, as the class had it when the call was prepared. */
  readonly secrets: SecretsByRole;
  readonly reclaimPolicy?: string;
  readonly mountOptions?: readonly string[];
  /** The VolumeAttributesClass that the call was made with. */
  readonly attributesClass?: string;
  /** "namespace/name" of the VolumeSnapshot, or of the claim, that must stay until the volume is stored. */
  readonly snapshotKey?: string;
  readonly claimKey?: string;
  /** The id of the volume, which nobody may use and the driver has not deleted: it is all that is left to do. */
  readonly undoes?: string;
}

/**
 * Whether this can be sent as it is. Somebody may have edited the object; and a call under another name than its own could undo the
 * volume of another claim.
 */
export function isIntent(volumeName: string, value: unknown): value is Intent {
  const { claim, call, secrets, undoes = "" } = (value ?? {}) as Partial<Intent>;
  return (
    typeof undoes === "string" &&
    typeof claim?.uid === "string" &&
    isRecord(secrets) &&
    call?.method === "create" &&
    call.name === volumeName &&
    /^\d{1,19}$/.test(call.bytes) &&
    Array.isArray(call.capabilities) &&
    isRecord(call.parameters)
  );
}

const isRecord = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
