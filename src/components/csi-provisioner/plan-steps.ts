/** The actions that both plans of the provisioner are made of. */
import type { ClusterAction, CodedMessage, Next, Plan } from "../../api/plan.ts";
import { settled } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import type { Key, Millis } from "../../base/brand.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import { type ErrorCode, withCode } from "../../rules/error-codes.ts";
import type { CsiCallAction } from "../../runtime/csi-calls.ts";
import type { VolumeCall } from "./call.ts";
import type { Intent } from "./intent.ts";
import type { VolumeMemory } from "./observe.ts";
import type { SourceObject } from "./source.ts";

/** What a call is about: a volume, by its name while it is created and by its PersistentVolume when it is deleted. */
export interface VolumeTarget {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly goal: "create" | "delete";
}

export const creationOf = (name: string): VolumeTarget => ({ metadata: { name, uid: name }, goal: "create" });
/** Of a volume without a PersistentVolume. */
export const undoingOf = (name: string): VolumeTarget => ({ metadata: { name, uid: name }, goal: "delete" });

export type LogAction =
  /** Before the intent is stored: the source carries our finalizer. */
  | { readonly kind: "protectSource"; readonly source: SourceObject }
  /** Before CreateVolume is sent. */
  | { readonly kind: "logIntent"; readonly name: string; readonly intent: Intent }
  /** Before a stored volume is deleted or may go: no successor may create it again, or delete what its owner keeps. */
  | { readonly kind: "settleIntent"; readonly name: string };

export type IntentAction = ClusterAction | LogAction;

export type ProvisionerAction =
  | ClusterAction
  | Extract<LogAction, { readonly kind: "settleIntent" }>
  | CsiCallAction<VolumeTarget, VolumeCall & { readonly secret: VolumeCall["secret"] }, IntentAction>
  | { readonly kind: "readSnapshot"; readonly key: Key }
  | { readonly kind: "readAttributes"; readonly name: string }
  /** The CreateVolume call has its outcome. */
  | { readonly kind: "forgetIntent"; readonly name: string }
  /** The reply is forgotten, and with it the intent if there is no volume; nothing is sent for a while, each time for longer. */
  | { readonly kind: "pause"; readonly name: string; readonly forgetsIntent: boolean }
  /** Unless a call has come meanwhile that needs the source. */
  | { readonly kind: "unprotectSource"; readonly source: SourceObject }
  /** An event that is recorded once for each kind of error, not once for each attempt. */
  | {
      readonly kind: "reportError";
      readonly about: KubeObject;
      readonly reason: string;
      readonly message: CodedMessage;
    }
  | {
      readonly kind: "count";
      readonly what: "created" | "deleted";
      readonly about: KubeObject;
      /** Of the target of the call. */
      readonly uid: string;
    };

export type ProvisionerPlan = Plan<ProvisionerAction>;

export const doing = (next: Next, ...actions: readonly ProvisionerAction[]): ProvisionerPlan => ({ actions, next });
export const nothing = doing(settled);

export const after = (ms: Millis): Next => ({ kind: "after", ms });
export const later = ({ replyLeftMs }: { readonly replyLeftMs: Millis }): Next =>
  replyLeftMs > 0 && Number.isFinite(replyLeftMs) ? after(replyLeftMs) : settled;

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

export const errorOf = (about: KubeObject, reason: string, message: CodedMessage): ProvisionerAction => ({
  kind: "reportError",
  about,
  reason,
  message,
});

/** Our sentence around what the driver said. */
export const quoting = (sentence: string, { message }: Fault, code: ErrorCode): CodedMessage =>
  withCode(`${sentence}: ${JSON.stringify(message)}`, code);

/** The call was not sent because its secret does not exist, or may not be read. */
export const isSecretGone = ({ reply, repliedTo }: Pick<VolumeMemory, "reply" | "repliedTo">): boolean =>
  reply.kind === "unsent" && isFault(reply.fault, "NotFound", "PermissionDenied") && repliedTo?.secret !== undefined;
