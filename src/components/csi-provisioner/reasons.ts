/**
 * Why nothing is done about an object, or what it waits for. A refusal's reason has the message of its event, and the code of that
 * message says which reason it is.
 *
 * The owner of a claim may get to read its reasons. A source in another namespace is named in them as the claim names it, or the link of
 * the claim, and nothing is said of its state: not even whether it exists.
 */

import type { CodedMessage, Ref } from "../../api/plan.ts";
import { because, type Reason, type ReasonCode } from "../../api/reasons.ts";
import { keyOf, type PersistentVolumeClaim } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import { printable } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { type NamedSource, objectKindOf } from "../../rules/data-source.ts";
import { classNameOf, selectedNodeOf } from "./claims/claim.ts";
import { isRefusal } from "./driver/refusals.ts";
import type { CallMemory } from "./driver/remembered.ts";
import type { ReadAction } from "./plan-steps.ts";
import type { VolumeFacts } from "./volumes/observe.ts";

/** The reasons that this component has. */
export type ProvisionerReasonCode = Extract<
  ReasonCode,
  | "Settled"
  | "NotOurs"
  | "Writes"
  | "Released"
  | "Invalid"
  | "ClaimNotFound"
  | "ClaimNotBound"
  | "ClassNotFound"
  | "ClassNotUsable"
  | "SecretNotUsable"
  | "ContentNotFound"
  | "ContentNotUsable"
  | "SnapshotNotFound"
  | "SnapshotNotReady"
  | "SourceNotUsable"
  | "SourceNotServed"
  | "NotGranted"
  | "WaitsForGrants"
  | "NotPermitted"
  | "WaitsForNode"
  | "NodeNotUsable"
  | "WaitsForDriver"
  | "DriverFailed"
  | "OutcomeUnknown"
  | "StoredCallDiffers"
  | "StoredCallUncertain"
  | "VolumeAbandoned"
  | "VolumeInUse"
  | "InUseByClaim"
>;

export interface ProvisionerReason extends Reason {
  readonly code: ProvisionerReasonCode;
}

export const reasonFor = (
  code: ProvisionerReasonCode,
  says: string,
  waitsFor: readonly Ref[] = [],
  sinceMs?: Millis,
): ProvisionerReason => ({ ...because(code, printable(says), waitsFor, sinceMs), code });

/** What is wrong with a source that the claim may use. It is not told of a source in another namespace. */
const ofSources: Readonly<Partial<Record<ErrorCode, ProvisionerReasonCode>>> = {
  "SNAP-136": "Invalid",
  "SNAP-301": "SnapshotNotFound",
  "SNAP-302": "SourceNotUsable",
  "SNAP-303": "SnapshotNotReady",
  "SNAP-304": "ContentNotFound",
  "SNAP-305": "ContentNotUsable",
  "SNAP-306": "SourceNotUsable",
  "SNAP-307": "SnapshotNotReady",
  "SNAP-308": "SnapshotNotReady",
  "SNAP-309": "SourceNotUsable",
  "SNAP-321": "ClaimNotFound",
  "SNAP-322": "ClaimNotFound",
  "SNAP-323": "ClaimNotBound",
  "SNAP-324": "Invalid",
  "SNAP-325": "SourceNotUsable",
  "SNAP-326": "SourceNotUsable",
};

/** What is wrong with the claim itself, its class or its node, or with how it names its source. */
const ofClaims: Readonly<Partial<Record<ErrorCode, ProvisionerReasonCode>>> = {
  "SNAP-133": "Invalid",
  "SNAP-231": "SecretNotUsable",
  "SNAP-232": "SecretNotUsable",
  "SNAP-233": "SecretNotUsable",
  "SNAP-331": "ClassNotFound",
  "SNAP-332": "ClassNotUsable",
  "SNAP-333": "ClassNotUsable",
  "SNAP-334": "Invalid",
  "SNAP-335": "Invalid",
  "SNAP-336": "SourceNotServed",
  "SNAP-337": "NodeNotUsable",
  "SNAP-339": "ClassNotUsable",
  "SNAP-340": "ClassNotUsable",
  "SNAP-361": "NotGranted",
  "SNAP-362": "WaitsForGrants",
  "SNAP-363": "SourceNotUsable",
  "SNAP-364": "NotPermitted",
  "SNAP-365": "Invalid",
};

/** Why no call is made for a claim. Undefined: no rule has this code. */
export function codeOfRefusal(
  code: ErrorCode,
  attributes?: VolumeFacts["attributes"],
): ProvisionerReasonCode | undefined {
  if (code === "SNAP-339" && attributes?.kind === "missing") return "ClassNotFound";
  return ofSources[code] ?? ofClaims[code];
}

export const claimText = (claim: PersistentVolumeClaim): string => `claim ${keyOf(claim)}`;

export function refused(
  { source, attributes }: Pick<VolumeFacts, "source" | "attributes">,
  claim: PersistentVolumeClaim,
  code: ErrorCode,
  message: CodedMessage,
): ProvisionerReason {
  if (code in ofSources && "named" in source && source.access.kind === "allowed") {
    const { kind, namespace, name } = refOfSource(source.named);
    const says = `${kind} ${namespace}/${name} cannot be used as it is; an event of the claim says why, as long as a ReferenceGrant allows it`;
    return reasonFor("SourceNotUsable", `${claimText(claim)}: ${says}`, [refOfSource(source.named)]);
  }
  const reason = codeOfRefusal(code, attributes) ?? "Invalid";
  // A VolumeAttributesClass is of no kind that we know.
  const waitsFor = code === "SNAP-339" ? [] : waitsForOf(reason, source, claim);
  return reasonFor(reason, `${claimText(claim)}: ${message}`, waitsFor);
}

const refOfSource = (source: NamedSource): Ref => {
  const { namespace, name } = source;
  return { kind: objectKindOf(source), namespace, name };
};

function waitsForOf(
  reason: ProvisionerReasonCode,
  source: VolumeFacts["source"],
  claim: PersistentVolumeClaim,
): readonly Ref[] {
  switch (reason) {
    case "ClassNotFound":
    case "ClassNotUsable":
    case "SecretNotUsable":
      return [{ kind: "StorageClass", name: classNameOf(claim) }];
    case "NodeNotUsable":
      return refsOf("Node", selectedNodeOf(claim));
    case "ContentNotFound":
    case "ContentNotUsable":
      return refsOf(
        "VolumeSnapshotContent",
        source.kind === "snapshot" ? source.snapshot?.status?.boundVolumeSnapshotContentName : undefined,
      );
    case "SnapshotNotFound":
    case "SnapshotNotReady":
    case "ClaimNotFound":
    case "ClaimNotBound":
    case "SourceNotUsable":
      return "named" in source ? [refOfSource(source.named)] : [];
    default:
      return [];
  }
}

const refsOf = (kind: Ref["kind"], name: string | undefined): readonly Ref[] =>
  name === undefined ? [] : [{ kind, name }];

/** What is not watched is read first, and the object is looked at again then. */
export const reading = (claim: PersistentVolumeClaim, read: ReadAction): ProvisionerReason =>
  reasonFor(
    "Writes",
    `${claimText(claim)}: ${read.kind === "readSnapshot" ? `VolumeSnapshot ${read.key}` : `VolumeAttributesClass ${read.name}`} is read`,
  );

/** Volumes were made in vain, or could not be deleted. */
export const pausing = ({ name, driver }: Pick<VolumeFacts, "name" | "driver">): ProvisionerReason =>
  reasonFor(
    "DriverFailed",
    `driver ${driver.name} has not made volume ${name} as it was asked to, or not deleted it: it is asked again after a pause, each time a longer one`,
  );

interface RepliedView {
  readonly memory: Pick<CallMemory, "reply" | "replyLeftMs" | "repliedTo" | "sentAtMs">;
  readonly nowMs: Millis;
}

/** The last call has failed, or was not sent because its secret could not be read; `says` has the message of the fault. */
export function failing({ memory }: RepliedView, says: string, fault: Fault): ProvisionerReason {
  const { reply, repliedTo, sentAtMs } = memory;
  if (reply.kind === "unsent")
    return reasonFor("SecretNotUsable", says, repliedTo?.secret && [{ kind: "Secret", ...repliedTo.secret }]);
  const isPending = isFault(fault, "Aborted");
  return reasonFor(
    isPending ? "WaitsForDriver" : isRefusal(fault) ? "DriverFailed" : "OutcomeUnknown",
    says,
    [],
    sentAtMs,
  );
}

/** The same, and the call is repeated when its reply counts no more. */
export const retrying = (view: RepliedView, says: string, fault: Fault): ProvisionerReason =>
  failing(view, `${says}${retryOf(view)}`, fault);

const retryOf = ({ memory: { replyLeftMs }, nowMs }: RepliedView): string =>
  replyLeftMs > 0 && Number.isFinite(replyLeftMs) ? `; the next attempt is at ${rfc3339(nowMs + replyLeftMs)}` : "";
