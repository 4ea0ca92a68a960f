/** Why a volume is not published, with the gRPC code and a remedy. */
import { Fault } from "../../../base/fault.ts";
import { withCode } from "../../../errors/codes.ts";
import { notListed, type ShareState } from "./observe.ts";
import type { PublishRequest } from "./plan-request.ts";
import type { SourceState } from "./sources.ts";
import type { Source, VolumeSpec } from "./types.ts";

const podOf = ({ pod }: Pick<VolumeSpec, "pod">): string => `pod ${pod.namespace}/${pod.name}`;
const shareOf = ({ shareKind, share }: Pick<VolumeSpec, "shareKind" | "share">): string => `${shareKind} ${share}`;
const sourceOf = ({ kind, namespace, name }: Source): string => `${kind} ${namespace}/${name}`;

export const unanswered = (request: PublishRequest, reason: unknown): Fault =>
  notNow(request, `the API server does not answer: ${Fault.from(reason).message}`);

const notNow = (request: PublishRequest, because: string): Fault =>
  new Fault("Unavailable", withCode(`${shareOf(request)} cannot be mounted now, because ${because}`, "SNAP-705"));

export function shareRefusal(request: PublishRequest, share: ShareState): Fault | undefined {
  switch (share.kind) {
    case "usable":
      return undefined;
    case "unknown":
      return share === notListed ? unanswered(request, share.because) : notNow(request, share.because);
    case "absent":
      return new Fault(
        "InvalidArgument",
        withCode(`${shareOf(request)} of ${podOf(request)} does not exist: create it, or correct the name`, "SNAP-702"),
      );
    case "unusable":
      return new Fault("InvalidArgument", share.problem);
  }
}

export function deniedUse(request: PublishRequest): Fault {
  const { shareKind, share, pod } = request;
  const grant = `verb use on ${shareKind.toLowerCase()}s, resourceNames: [${share}], group sharedresource.openshift.io`;
  return new Fault(
    "PermissionDenied",
    withCode(
      `service account ${pod.namespace}/${pod.serviceAccount} of ${podOf(request)} may not use ${shareOf(request)}: grant it with a Role (${grant}) and a RoleBinding in namespace ${pod.namespace}`,
      "SNAP-704",
    ),
  );
}

/** The request itself was denied: the driver's own role is at fault, not the pod's. */
export const reviewFailed = (request: PublishRequest, reason: unknown): Fault =>
  reason instanceof Fault && reason.code === "PermissionDenied"
    ? new Fault(
        "PermissionDenied",
        withCode(
          `the driver may not create SubjectAccessReviews, so it cannot ask about ${shareOf(request)}: ${reason.message}`,
          "SNAP-705",
        ),
      )
    : unanswered(request, reason);

export const notReadOnly = (request: PublishRequest): Fault =>
  new Fault(
    "InvalidArgument",
    withCode(
      `csi.readOnly: must be true, because volumes of this driver are read-only, but the volume of ${podOf(request)} for ${shareOf(request)} has false; set readOnly: true`,
      "SNAP-151",
    ),
  );

export function sourceRefusal(request: PublishRequest, source: Source, state: SourceState): Fault | undefined {
  switch (state.kind) {
    case "present":
      return undefined;
    case "unknown":
      return unanswered(request, `${sourceOf(source)} has not been read yet`);
    case "absent":
      return new Fault(
        "NotFound",
        withCode(
          `${sourceOf(source)} of ${shareOf(request)} does not exist: create it, or correct the share`,
          "SNAP-706",
        ),
      );
    case "unusable":
      return new Fault("FailedPrecondition", state.problem);
  }
}

export const sourceFailed = (request: PublishRequest, source: Source, reason: unknown): Fault =>
  reason instanceof Fault && reason.code === "PermissionDenied"
    ? new Fault(
        "PermissionDenied",
        withCode(
          `the driver may not read ${sourceOf(source)} of ${shareOf(request)}: allow its service account to get, list and watch it (resourceNames: [${source.name}]) in namespace ${source.namespace}`,
          "SNAP-707",
        ),
      )
    : unanswered(request, reason);

export const otherVolume = ({ id, target }: VolumeSpec): Fault =>
  new Fault(
    "AlreadyExists",
    withCode(`volume ${id} is published at ${target} for another pod or share: unpublish it first`, "SNAP-710"),
  );
