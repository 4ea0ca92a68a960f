/**
 * Validates snapshots in replies of the driver. A reply with an id is used, whatever else is wrong with it: without the handle the
 * snapshot could never be deleted. A reply without an id is malformed, and its outcome is unknown.
 */

import { Fault } from "../../base/fault.ts";
import type { Snapshot } from "../../csi/gen/csi_pb.js";

/** What the driver says about a snapshot, with impossible values replaced. */
export interface SnapshotInfo {
  readonly handle: string;
  readonly ready: boolean;
  readonly creationTimeNs: bigint;
  /** 0: unknown. */
  readonly sizeBytes: bigint;
  /** What was wrong with the reply, and which value is used instead. */
  readonly oddities: readonly string[];
}

/** What the sidecar reads from the replies to its calls; errors aside. */
export type SnapshotAnswer = { readonly kind: "taken"; readonly snapshot: SnapshotInfo } | { readonly kind: "deleted" };

export const malformed = (what: string): Fault =>
  new Fault(
    "MalformedReply",
    `the driver's answer makes no sense: ${what}; this is a defect of the driver, which is asked again`,
  );

const nanosPerSecond = 1_000_000_000n;
const secondsPerDay = 86_400n;
/** status.creationTime is an int64. */
const nanosMax = 2n ** 63n - 1n;

export function snapshotInfoFrom(snapshot: Snapshot | undefined, nowNs: bigint): SnapshotInfo {
  if (snapshot === undefined) throw malformed("it holds no snapshot");
  if (snapshot.snapshotId === "") throw malformed("snapshot_id is empty");
  return snapshotInfoAs(snapshot.snapshotId, snapshot, nowNs);
}

/** The handle is the one that was requested, however the driver spells it. */
export function snapshotInfoAs(
  handle: string,
  { sizeBytes, creationTime, readyToUse }: Pick<Snapshot, "sizeBytes" | "creationTime" | "readyToUse">,
  nowNs: bigint,
): SnapshotInfo {
  const whenNs = creationTime === undefined ? nowNs : nanosOf(creationTime);
  const isDated = whenNs !== undefined;
  const isSized = sizeBytes >= 0n;
  return {
    handle,
    ready: readyToUse,
    creationTimeNs: isDated ? whenNs : nowNs,
    sizeBytes: isSized ? sizeBytes : 0n,
    oddities: [
      ...(isDated
        ? []
        : [
            `creation_time is ${creationTime?.seconds} s and ${creationTime?.nanos} ns after 1970, which cannot be: the time of the reply is kept instead`,
          ]),
      ...(isSized ? [] : [`size_bytes is ${sizeBytes}: the size is not known, and status.restoreSize is left out`]),
    ],
  };
}

/**
 * Undefined: impossible. A time within 1970 is one that the driver never set. Milliseconds in place of seconds give a year after 2262,
 * which other clients could not read from the status.
 */
function nanosOf({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): bigint | undefined {
  const whenNs = seconds * nanosPerSecond + BigInt(nanos);
  const isPossible = seconds >= secondsPerDay && nanos >= 0 && nanos < Number(nanosPerSecond) && whenNs <= nanosMax;
  return isPossible ? whenNs : undefined;
}
