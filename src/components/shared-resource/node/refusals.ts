/** Why a volume is not published: for the log a reason, for the kubelet a gRPC code and a remedy. */
import type { CodedMessage } from "../../../api/plan.ts";
import type { ReasonCode } from "../../../api/reasons.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { withCode } from "../../../errors/codes.ts";
import { codeOfUnknown, type ShareState } from "./observe.ts";
import type { PublishRequest } from "./plan-request.ts";
import type { Source, SourceState, VolumeSpec } from "./types.ts";

export interface Refusal {
  readonly reason: ReasonCode;
  readonly fault: Fault;
}

const refused = (reason: ReasonCode, code: FaultCode, message: CodedMessage): Refusal => ({
  reason,
  fault: new Fault(code, message),
});

const podOf = ({ pod }: Pick<VolumeSpec, "pod">): string => `pod ${pod.namespace}/${pod.name}`;
const shareOf = ({ shareKind, share }: Pick<VolumeSpec, "shareKind" | "share">): string => `${shareKind} ${share}`;
const sourceOf = ({ kind, namespace, name }: Source): string => `${kind} ${namespace}/${name}`;

const unanswered = (request: PublishRequest, reason: unknown): Refusal =>
  notNow(request, "ServerUnreachable", `the API server does not answer: ${Fault.from(reason).message}`);

const notNow = (request: PublishRequest, reason: ReasonCode, because: string): Refusal =>
  refused(reason, "Unavailable", withCode(`${shareOf(request)} cannot be mounted now, because ${because}`, "SNAP-705"));

export function shareRefusal(request: PublishRequest, share: ShareState): Refusal | undefined {
  switch (share.kind) {
    case "usable":
      return undefined;
    case "unknown": {
      const reason = codeOfUnknown(share);
      return reason === "ServerUnreachable"
        ? unanswered(request, share.because)
        : notNow(request, reason, share.because);
    }
    case "absent":
      return refused(
        "ShareNotFound",
        "InvalidArgument",
        withCode(`${shareOf(request)} of ${podOf(request)} does not exist: create it, or correct the name`, "SNAP-702"),
      );
    case "unusable":
      return refused("Invalid", "InvalidArgument", share.problem);
  }
}

export function deniedUse(request: PublishRequest): Refusal {
  const { shareKind, share, pod } = request;
  const grant = `verb use on ${shareKind.toLowerCase()}s, resourceNames: [${share}], group sharedresource.openshift.io`;
  return refused(
    "UseDenied",
    "PermissionDenied",
    withCode(
      `service account ${pod.namespace}/${pod.serviceAccount} of ${podOf(request)} may not use ${shareOf(request)}: grant it with a Role (${grant}) and a RoleBinding in namespace ${pod.namespace}`,
      "SNAP-704",
    ),
  );
}

/** The request itself was denied: the driver's own role is at fault, not the pod's. */
export const reviewFailed = (request: PublishRequest, reason: unknown): Refusal =>
  reason instanceof Fault && reason.code === "PermissionDenied"
    ? refused(
        "NotPermitted",
        "PermissionDenied",
        withCode(
          `the driver may not create SubjectAccessReviews, so it cannot ask about ${shareOf(request)}: ${reason.message}`,
          "SNAP-705",
        ),
      )
    : unanswered(request, reason);

export const reviewAged = (request: PublishRequest): Refusal =>
  notNow(request, "ServerUnreachable", "the last review of its permission is too old, and there is no newer one");

export const notReadOnly = (request: PublishRequest): Refusal =>
  refused(
    "Invalid",
    "InvalidArgument",
    withCode(
      `csi.readOnly: must be true, because volumes of this driver are read-only, but the volume of ${podOf(request)} for ${shareOf(request)} has false; set readOnly: true`,
      "SNAP-151",
    ),
  );

export function sourceRefusal(request: PublishRequest, source: Source, state: SourceState): Refusal | undefined {
  switch (state.kind) {
    case "present":
      return undefined;
    case "unknown":
      return unanswered(request, `${sourceOf(source)} has not been read yet`);
    case "absent":
      return refused(
        "SecretNotFound",
        "NotFound",
        withCode(
          `${sourceOf(source)} of ${shareOf(request)} does not exist: create it, or correct the share`,
          "SNAP-706",
        ),
      );
    case "unusable":
      return { reason: "Invalid", fault: new Fault("FailedPrecondition", state.problem) };
  }
}

export const sourceFailed = (request: PublishRequest, source: Source, reason: unknown): Refusal =>
  reason instanceof Fault && reason.code === "PermissionDenied"
    ? refused(
        "NotPermitted",
        "PermissionDenied",
        withCode(
          `the driver may not read ${sourceOf(source)} of ${shareOf(request)}: allow its service account to get, list and watch it (resourceNames: [${source.name}]) in namespace ${source.namespace}`,
          "SNAP-707",
        ),
      )
    : unanswered(request, reason);

export const otherVolume = ({ id, target }: VolumeSpec): Refusal =>
  refused(
    "Invalid",
    "AlreadyExists",
    withCode(`volume ${id} is published at ${target} for another pod or share: unpublish it first`, "SNAP-710"),
  );

export const noRoom = (full: CodedMessage): Refusal => refused("NoRoom", "ResourceExhausted", full);
