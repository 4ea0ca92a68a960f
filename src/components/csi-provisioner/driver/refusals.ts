/** What it means that a call has failed. */
import { type Fault, isFault, isFinal } from "../../../base/fault.ts";
import type { CallMemory } from "./remembered.ts";

/** No volume was created by this call. ResourceExhausted is a refusal of CreateVolume, though not of other requests. */
export const isRefusal = (fault: Fault): boolean => isFinal(fault) || isFault(fault, "ResourceExhausted");

/**
 * DeleteVolume answers so whatever the cluster looks like: the volume's id, or the call itself, is wrong. A volume that is in use, or a
 * secret that is wrong, can be mended where nobody sees it.
 */
export const isRefusedForGood = (fault: Fault): boolean =>
  isFault(fault, "InvalidArgument", "Unimplemented", "NotFound", "OutOfRange");

/** The call was not sent because its secret does not exist, or may not be read. */
export const isSecretGone = ({ reply, repliedTo }: Pick<CallMemory, "reply" | "repliedTo">): boolean =>
  reply.kind === "unsent" && isFault(reply.fault, "NotFound", "PermissionDenied") && repliedTo?.secret !== undefined;

/** What a refusal of CreateVolume says: that there is a volume of this name already, or that there is none by this call. */
export function refusalOf(fault: Fault): "exists" | "refused" | undefined {
  if (isFault(fault, "AlreadyExists")) return "exists";
  return isRefusal(fault) ? "refused" : undefined;
}
