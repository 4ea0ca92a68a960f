/** Every code a driver can answer. Those that leave the outcome open are also said of calls that had their effect. */
import { type FaultCode, faults } from "../../../src/base/fault.ts";
import type { Backend } from "../backend.ts";
import { type Boundary, pass } from "../verdict.ts";
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
  strike: ({ backend, boundary }) =>
    isFalse(code, effect, backend, boundary) ? pass : { effect, answer: { kind: "code", code } },
});

/**
 * A final answer says that there is nothing, and that nothing is under way. Of a snapshot or volume that exists, or that the driver is
 * at work on, it would be a false reply, which no client can detect. To CreateVolume, RESOURCE_EXHAUSTED is such an answer, too: there is
 * no room for the volume.
 */
function isFalse(code: FaultCode, effect: boolean, backend: Backend, { text }: Boundary): boolean {
  const { snapshots, volumes, busy } = backend;
  const isCreation = text.startsWith("Create");
  const isRefusal = faults[code].final || (code === "ResourceExhausted" && text.startsWith("CreateVolume"));
  if (!isCreation || !isRefusal) return false;
  const known = [...busy, ...[...snapshots.values(), ...volumes.stored.values()].map(({ name }) => name)];
  return effect || known.some((name) => text.endsWith(` ${name}`));
}

export const driverCodes: readonly FaultRow[] = codes.flatMap((code) =>
  faults[code].final ? [saying(code, false)] : [saying(code, false), saying(code, true)],
);
