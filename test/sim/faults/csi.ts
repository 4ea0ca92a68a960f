/** Every code a driver can answer. Those that leave the outcome open are also said of calls that had their effect. */
import { type FaultCode, faults } from "../../../src/base/fault.ts";
import type { FaultRow } from "./fault.ts";

const codes: readonly FaultCode[] = [
  "Cancelled",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
];

const saying = (code: FaultCode, effect: boolean): FaultRow => ({
  name: `csi-${code}${effect ? "-after-effect" : ""}`,
  family: "csi",
  on: ["csi"],
  strike: () => ({ effect, answer: { kind: "code", code } }),
});

export const driverCodes: readonly FaultRow[] = codes.flatMap((code) =>
  faults[code].final ? [saying(code, false)] : [saying(code, false), saying(code, true)],
);
