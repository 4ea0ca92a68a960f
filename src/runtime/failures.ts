/** Why a reconcile failed, as a reason: an object whose write is refused waits for somebody like any other. */
import { because, type Reason, type ReasonCode } from "../api/reasons.ts";
import { Fault, type FaultCode } from "../base/fault.ts";

/** Absent: a request was refused for a reason of its own. */
const codes: Partial<Record<FaultCode, ReasonCode>> = {
  PermissionDenied: "NotPermitted",
  Unauthenticated: "NotPermitted",
  Unavailable: "ServerUnreachable",
  DeadlineExceeded: "ServerUnreachable",
  ResourceExhausted: "ServerUnreachable",
  Cancelled: "ServerUnreachable",
  UnknownOutcome: "ServerUnreachable",
  MalformedReply: "ServerUnreachable",
};

/** Undefined: nothing has failed. The object has changed meanwhile, or this process may not write any more. */
export function reasonOfFailure(thrown: unknown): Reason | undefined {
  if (!(thrown instanceof Fault))
    return because("UnexpectedError", thrown instanceof Error ? thrown.message : String(thrown));
  if (thrown.code === "Conflict" || thrown.code === "Aborted") return undefined;
  return because(codes[thrown.code] ?? "RequestRefused", thrown.message);
}
