/**
 * The calls to the driver as plain data. A CreateVolume call is stored before it is sent (stored-calls/intent-log.ts), so that whoever finds it
 * later can repeat it with the very same arguments: it holds nothing but JSON, and names its secret instead of holding it.
 */
import type { NamedSource } from "../../../rules/data-source.ts";
import type { GrantFrom, GrantTo } from "../../../rules/reference-grant.ts";
import type { SecretRef } from "../../../rules/secret-template.ts";
import type { CsiReply } from "../../../runtime/reply-cache.ts";
import type { Parameters } from "../claims/parameters.ts";
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

/** Whose consent the call needs, because its source is named with a namespace. It is asked for right before the call is sent. */
export interface Consent {
  readonly from: GrantFrom;
  readonly to: GrantTo;
  /** The uid of the source that was looked at. */
  readonly uid: string;
  /** The link that named the source. */
  readonly link?: NonNullable<NamedSource["link"]>;
}

interface Creation {
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

export interface CreateVolumeCall extends Creation {
  readonly method: "create";
  readonly consent?: Consent;
}

/** CreateVolume once more, only to learn the id of what an earlier call may have created: the volume is deleted and never published. */
export interface LearnVolumeCall extends Creation {
  readonly method: "learn";
}

export interface DeleteVolumeCall {
  readonly method: "delete";
  readonly volumeId: string;
  readonly secret?: SecretRef;
}

export type VolumeCall = CreateVolumeCall | LearnVolumeCall | DeleteVolumeCall;

/** What the driver says of the volume that it has made. */
export interface CreatedVolume {
  readonly id: string;
  /** 0: the driver does not say. */
  readonly bytes: bigint;
  readonly context: Parameters;
  readonly topology: readonly Segments[];
  readonly source?: { readonly kind: "snapshot" | "volume"; readonly handle: string };
}

/** What the driver has answered. */
export type VolumeAnswer =
  | { readonly kind: "created"; readonly volume: CreatedVolume }
  | { readonly kind: "deleted" }
  /** The driver was not called: the owner of the source does not consent, or could not be asked. */
  | { readonly kind: "denied" };
export type VolumeReply = CsiReply<VolumeAnswer> | { readonly kind: "none" };
