/**
 * Reads what a driver says of a snapshot. A reply with an id is an answer, whatever else is wrong with it: without the handle the
 * snapshot could never be deleted. One without an id is malformed, and what the driver has done is not known.
 */

import { Fault } from "../../base/fault.ts";
import type { Snapshot } from "../../csi/gen/csi_pb.js";
import type { SnapshotInfo } from "./observe.ts";

export const malformed = (what: string): Fault =>
  new Fault(
    "MalformedReply",
    `the driver's answer makes no sense: ${what}; this is a defect of the driver, which is asked again`,
  );

const nanosPerSecond = 1_000_000_000n;
const secondsPerDay = 86_400n;
/** Of the int64 that status.creationTime is. */
const nanosMax = 2n ** 63n - 1n;

export function snapshotInfoFrom(snapshot: Snapshot | undefined, nowNs: bigint): SnapshotInfo {
  if (snapshot === undefined) throw malformed("it holds no snapshot");
  if (snapshot.snapshotId === "") throw malformed("snapshot_id is empty");
  return snapshotInfoAs(snapshot.snapshotId, snapshot, nowNs);
}

/** The same under the handle that it was asked for by, whatever the driver calls it. */
export function snapshotInfoAs(
  handle: string,
  { sizeBytes, creationTime, readyToUse }: Snapshot,
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
 * Undefined: impossible. A time in 1970 or before is one that the driver never set. Milliseconds in place of seconds lead behind
 * the year 2262; other clients could not read a status that holds that.
 */
function nanosOf({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): bigint | undefined {
  const whenNs = seconds * nanosPerSecond + BigInt(nanos);
  const isPossible = seconds >= secondsPerDay && nanos >= 0 && nanos < Number(nanosPerSecond) && whenNs <= nanosMax;
  return isPossible ? whenNs : undefined;
}
