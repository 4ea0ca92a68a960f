/** What the plans about volumes and their sources are made of. */
import { type ClusterAction, type CodedMessage, type Next, type Plan, settled } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import type { Key, Millis } from "../../base/brand.ts";
import type { Fault } from "../../base/fault.ts";
import { type ErrorCode, withCode } from "../../errors/codes.ts";
import type { CsiCallAction } from "../../runtime/csi-calls.ts";
import type { Consent, CreateVolumeCall, VolumeCall } from "./driver/call.ts";
import type { TargetUid, VolumeTarget } from "./driver/target.ts";
import type { VolumeName } from "./identity.ts";
import type { ProvisionerReason } from "./reasons.ts";
import type { SourceObject } from "./sources/source.ts";
import type { Intent } from "./stored-calls/intent.ts";

export type LogAction =
  /** Before the intent is stored: the source carries our finalizer. */
  | {
      readonly kind: "protectSource";
      readonly source: SourceObject;
      /** Nothing else keeps it, so the call is not sent without the finalizer. */
      readonly isRequired: boolean;
    }
  /** Before CreateVolume is sent. */
  | { readonly kind: "logIntent"; readonly name: VolumeName; readonly intent: Intent; readonly from?: "claim" }
  /** Before a stored volume is deleted or may go: no successor may create it again, or delete what its owner keeps. */
  | { readonly kind: "settleIntent"; readonly name: VolumeName }
  /** Goes on only if the call has not been settled since it was decided to undo it: its PersistentVolume may have come and gone. */
  | { readonly kind: "requireIntent"; readonly name: VolumeName }
  /**
   * Before the PersistentVolume with the volume of this id is stored; without an id, before its volume is deleted, which no
   * PersistentVolume has. The stored call says so first.
   */
  | { readonly kind: "publishing"; readonly name: VolumeName; readonly id: string | undefined };

export type IntentAction = ClusterAction | LogAction;

export type CallAction = CsiCallAction<
  VolumeTarget,
  VolumeCall & { readonly secret: VolumeCall["secret"] },
  IntentAction
>;

export type ProvisionerAction =
  | ClusterAction
  | Extract<LogAction, { readonly kind: "settleIntent" | "logIntent" | "publishing" }>
  | CallAction
  /** With the name of a volume: for this attempt to create it alone. */
  | { readonly kind: "readSnapshot"; readonly key: Key; readonly attempt?: VolumeName }
  | { readonly kind: "readAttributes"; readonly name: string }
  /** What is wrong with a stored call goes to the log and into an event. */
  | {
      readonly kind: "reportCall";
      readonly volume: VolumeName;
      readonly about: KubeObject;
      readonly reason: string;
      readonly message: CodedMessage;
    }
  /** The CreateVolume call has its outcome. */
  | { readonly kind: "forgetIntent"; readonly name: VolumeName; readonly forgetsReply?: true }
  /** The reply is forgotten, and with it the intent if there is no volume; nothing is sent for a while, each time for longer. */
  | { readonly kind: "pause"; readonly name: VolumeName; readonly forgetsIntent: boolean }
  /** The volume that the driver has answered before is deleted. */
  | { readonly kind: "forgetStray"; readonly name: VolumeName }
  /** A while is chosen after which the claim may be taken for the own node, so that not all nodes try at once. */
  | { readonly kind: "delayTaking"; readonly name: VolumeName }
  /** The own node becomes the selected one, unless another was quicker or the driver has no room. */
  | {
      readonly kind: "take";
      readonly name: VolumeName;
      readonly claim: Extract<ClusterAction, { readonly kind: "replace" }>;
      /** What will be asked for; undefined: the claim cannot be served, and the node that takes it says why. */
      readonly call: CreateVolumeCall | undefined;
    }
  /** Unless a call has come meanwhile that needs the source. */
  | { readonly kind: "unprotectSource"; readonly source: SourceObject }
  /** An event that is recorded once for each kind of error, not once for each attempt. */
  | {
      readonly kind: "reportError";
      readonly about: KubeObject;
      readonly reason: string;
      readonly message: CodedMessage;
      /** Counts as an attempt that failed, though nothing was sent. */
      readonly isFailure?: boolean;
      /** The message tells of another namespace: it is for those whom its owner still lets know, and others read this instead. */
      readonly consent?: Pick<Consent, "from" | "to"> & { readonly otherwise: CodedMessage };
    }
  | {
      readonly kind: "count";
      readonly what: "created" | "deleted";
      readonly about: KubeObject;
      /** The uid of the target of the call. */
      readonly uid: TargetUid;
    };

export type ReadAction = Extract<ProvisionerAction, { readonly kind: "readSnapshot" | "readAttributes" }>;

/** Every decision says why. */
export interface ProvisionerPlan extends Plan<ProvisionerAction> {
  readonly reason: ProvisionerReason;
}

export const doing = (
  reason: ProvisionerReason,
  next: Next,
  ...actions: readonly ProvisionerAction[]
): ProvisionerPlan => ({ actions, next, reason });
/** Nothing to do, now and later, unless something changes. */
export const resting = (reason: ProvisionerReason): ProvisionerPlan => doing(reason, settled);

/** The reason of the events about volumes that cannot be made. */
export const provisioningFailed = "ProvisioningFailed";

/** How often something is looked at again whose changes cannot be seen. */
export const pollMs: Millis = 5_000;

type ForgetAction = Extract<ProvisionerAction, { readonly kind: "forgetIntent" }>;
export const forget = (name: VolumeName): ForgetAction => ({ kind: "forgetIntent", name });
export const pause = (name: VolumeName, forgetsIntent: boolean): ProvisionerAction => ({
  kind: "pause",
  name,
  forgetsIntent,
});

export const inMs = (ms: Millis): Next => ({ kind: "after", ms });
export const later = ({ replyLeftMs }: { readonly replyLeftMs: Millis }): Next =>
  replyLeftMs > 0 && Number.isFinite(replyLeftMs) ? inMs(replyLeftMs) : settled;

/** Whichever comes first. */
export const sooner = (one: Next, other: Next): Next =>
  one.kind === "after" && other.kind === "after"
    ? inMs(Math.min(one.ms, other.ms))
    : one.kind === "after"
      ? one
      : other;

export const send = (
  target: VolumeTarget,
  call: VolumeCall,
  ...intent: readonly IntentAction[]
): ProvisionerAction => ({
  kind: "csi",
  about: target,
  call: { ...call, secret: call.secret },
  intent,
});

export type ErrorAction = Extract<ProvisionerAction, { readonly kind: "reportError" }>;
export const errorOf = (about: KubeObject, reason: string, message: CodedMessage): ErrorAction => ({
  kind: "reportError",
  about,
  reason,
  message,
});

/** Our sentence around what the driver said. */
export const quoting = (sentence: string, { message }: Fault, code: ErrorCode): CodedMessage =>
  withCode(`${sentence}: ${JSON.stringify(message)}`, code);
