/** gRPC status ⇄ Fault. The numbers come from the fault table; this file adds what a number alone does not say. */
import { Fault, type FaultCode, faults } from "../base/fault.ts";
import { limits } from "../base/limits.ts";

export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

/** One row per gRPC number: its name on metrics (Go's spelling, which dashboards know) and what we take it for. */
const codes: readonly { readonly name: string; readonly fault: FaultCode }[] = [
  { name: "OK", fault: "Lost" },
  { name: "Canceled", fault: "Cancelled" },
  // A driver that returns a plain error sends UNKNOWN: it has answered, and Kubernetes takes that answer as final.
  { name: "Unknown", fault: "Internal" },
  { name: "InvalidArgument", fault: "InvalidArgument" },
  { name: "DeadlineExceeded", fault: "DeadlineExceeded" },
  { name: "NotFound", fault: "NotFound" },
  { name: "AlreadyExists", fault: "AlreadyExists" },
  { name: "PermissionDenied", fault: "PermissionDenied" },
  { name: "ResourceExhausted", fault: "ResourceExhausted" },
  { name: "FailedPrecondition", fault: "FailedPrecondition" },
  { name: "Aborted", fault: "Aborted" },
  { name: "OutOfRange", fault: "OutOfRange" },
  { name: "Unimplemented", fault: "Unimplemented" },
  { name: "Internal", fault: "Internal" },
  { name: "Unavailable", fault: "Unavailable" },
  { name: "DataLoss", fault: "DataLoss" },
  { name: "Unauthenticated", fault: "Unauthenticated" },
];

/**
 * What grpc-js itself says when no answer came, or none it could read. It uses the same numbers as drivers do (INTERNAL
 * for a connection cut in mid-call, UNIMPLEMENTED for an empty reply), so only the words tell that the outcome is unknown.
 */
const notAnAnswer =
  /^(Received RST_STREAM with code|Received HTTP status code|Response message parsing error|Failed to start HTTP\/2 stream|Failed to decompress|No message received$|Too many responses received$|No status information received$|Write error: |Bandwidth exhausted or memory limit exceeded$|Protocol not secure enough$)/;

export function faultCodeOf({ code, details }: GrpcStatus): FaultCode {
  if (notAnAnswer.test(details)) return "Lost";
  return codes[code]?.fault ?? "Lost";
}

/**
 * What a driver answered, in the words that Go's gRPC prints: people, and tools that read the status of a snapshot, search for
 * them. The name is the driver's own, though we may take its number for another fault.
 */
export class Answer extends Fault {
  readonly grpcName: string;

  constructor({ code, details }: GrpcStatus) {
    const grpcName = codes[code]?.name ?? "Unknown";
    super(faultCodeOf({ code, details }), `rpc error: code = ${grpcName} desc = ${details || "no reason given"}`);
    this.grpcName = grpcName;
  }
}

export function grpcNameOf(fault: Fault | undefined): string {
  if (fault === undefined) return "OK";
  return fault instanceof Answer ? fault.grpcName : (codes[faults[fault.code].grpc]?.name ?? "Unknown");
}

/**
 * What a server sends for a fault; the reader's header limits bound the text. UNKNOWN would be read as final: whoever has
 * lost track of an outcome sends UNAVAILABLE instead, so that the question is asked again.
 */
export function statusOf(fault: Fault): GrpcStatus {
  const { grpc } = faults[fault.code];
  const code = codes[grpc]?.name === "Unknown" ? faults.Unavailable.grpc : grpc;
  return { code, details: fault.message.slice(0, limits.csiErrorCharsMax) };
}
