/** gRPC status ⇄ Fault. The numbers come from the fault table; this file adds what a number alone does not say. */
import { Fault, type FaultCode, faults } from "../base/fault.ts";
import { limits } from "../base/limits.ts";

export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

/** One row per gRPC number: its name on metrics (Go's spelling, which dashboards know) and what we take it for. */
const codes: readonly { readonly name: string; readonly fault: FaultCode }[] = [
  // Reported as an error, although the status says that there is none.
  { name: "OK", fault: "MalformedReply" },
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
 * grpc-js reports its own errors under the same numbers as drivers use (INTERNAL for a connection that breaks in mid-call,
 * UNIMPLEMENTED for an empty reply), so only the text tells them from an answer. No reply came with these.
 */
const lost =
  /^(Received RST_STREAM with code|Failed to start HTTP\/2 stream|Write error: |Write failed with error |Bandwidth exhausted or memory limit exceeded$|Protocol not secure enough$)/;
/** A reply came with these, and it was not gRPC, or no message of this method. */
const malformed =
  /^(Response message parsing error|Received HTTP status code|Failed to decompress|Received message (larger than max|that decompresses to)|No message received$|Too many responses received$|No status information received$)/;

export function faultCodeOf({ code, details }: GrpcStatus): FaultCode {
  if (lost.test(details)) return "UnknownOutcome";
  // A gateway between us and the driver answers 502 to 504, which grpc-js maps to UNAVAILABLE: the driver said nothing.
  if (malformed.test(details)) return code === faults.Unavailable.grpc ? "UnknownOutcome" : "MalformedReply";
  return codes[code]?.fault ?? "MalformedReply";
}

/** As a grpc-message travels: printable ASCII, and each percent sign begins an encoded byte. */
const isEncoded = (text: string): boolean => /^(?:[\x20-\x24\x26-\x7e]|%[\da-f]{2})*$/i.test(text);

/**
 * grpc-js gives up on a grpc-message as a whole when one sequence in it is no UTF-8, and hands it over percent-encoded. Here
 * the rest is decoded, and what cannot be becomes a replacement character. Any other text has been decoded already.
 */
export function decodedMessage(details: string): string {
  if (!isEncoded(details)) return details;
  try {
    decodeURI(details);
    return details;
  } catch {
    return details.replace(/(?:%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
  }
}

export function malformedBecause({ code, details }: GrpcStatus): string {
  const why =
    codes[code] === undefined ? `gRPC defines no status code ${code}: ${details || "no reason given"}` : details;
  return `the driver's reply cannot be read, the outcome is unknown: ${why}`;
}

/**
 * What a driver answered, in the words that Go's gRPC prints: people, and tools that read the status of a snapshot, search for
 * them. The name is the driver's own, though we may take its number for another fault.
 */
export class CallAnswer extends Fault {
  readonly grpcName: string;

  constructor({ code, details }: GrpcStatus) {
    const grpcName = codes[code]?.name ?? "Unknown";
    super(faultCodeOf({ code, details }), `rpc error: code = ${grpcName} desc = ${details || "no reason given"}`);
    this.grpcName = grpcName;
  }
}

export function grpcNameOf(fault: Fault | undefined): string {
  if (fault === undefined) return "OK";
  return fault instanceof CallAnswer ? fault.grpcName : (codes[faults[fault.code].grpc]?.name ?? "Unknown");
}

/**
 * What a server sends for a fault; the reader's header limits bound the text. UNKNOWN would be read as final: whoever has
 * lost track of an outcome sends UNAVAILABLE instead, so that the question is asked again.
 */
export function grpcStatusOf(fault: Fault): GrpcStatus {
  const { grpc } = faults[fault.code];
  const code = codes[grpc]?.name === "Unknown" ? faults.Unavailable.grpc : grpc;
  return { code, details: fault.message.slice(0, limits.csiErrorCharsMax) };
}
