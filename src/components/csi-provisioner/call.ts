/**
 * The calls to the driver as plain data. A CreateVolume call is stored before it is sent (intent-log.ts), so that whoever finds it
 * later can repeat it with the very same arguments: it holds nothing but JSON, and names its secret instead of holding it.
 */
import type { SecretRef } from "../../rules/secret-template.ts";
import type { Parameters } from "./parameters.ts";
import type { Segments } from "./topology.ts";

export type AccessMode =
  | "SINGLE_NODE_WRITER"
  | "SINGLE_NODE_SINGLE_WRITER"
  | "SINGLE_NODE_MULTI_WRITER"
  | "MULTI_NODE_READER_ONLY"
  | "MULTI_NODE_MULTI_WRITER";

export interface VolumeCapability {
  readonly mode: AccessMode;
  /** Absent: a block device. */
  readonly mount?: { readonly fsType: string; readonly flags: readonly string[] };
}

export interface CreateVolumeCall {
  readonly method: "create";
  readonly name: string;
  /** A decimal number. */
  readonly bytes: string;
  readonly capabilities: readonly VolumeCapability[];
  readonly parameters: Parameters;
  readonly source?: { readonly kind: "snapshot" | "volume"; readonly handle: string };
  readonly topology?: { readonly requisite: readonly Segments[]; readonly preferred: readonly Segments[] };
  readonly mutableParameters?: Parameters;
  readonly secret?: SecretRef;
}

export interface DeleteVolumeCall {
  readonly method: "delete";
  readonly volumeId: string;
  readonly secret?: SecretRef;
}

export type VolumeCall = CreateVolumeCall | DeleteVolumeCall;

/** What the driver says of the volume that it has made. */
export interface CreatedVolume {
  readonly id: string;
  /** 0: the driver does not say. */
  readonly bytes: bigint;
  readonly context: Parameters;
  readonly topology: readonly Segments[];
  readonly source?: { readonly kind: "snapshot" | "volume"; readonly handle: string };
}
