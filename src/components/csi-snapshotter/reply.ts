/** Believes a driver only what makes sense. An answer that does not is a fault, and its outcome is not known. */

import { Fault } from "../../base/fault.ts";
import type { Snapshot } from "../../csi/gen/csi_pb.js";
import type { Taken } from "./observe.ts";

const nonsense = (what: string): Fault =>
  new Fault(
    "MalformedReply",
    `the driver's answer makes no sense: ${what}; this is a defect of the driver, which is asked again`,
  );

const nanosPerSecond = 1_000_000_000n;
const secondsPerDay = 86_400n;
/** Of the int64 that status.creationTime is. */
const nanosMax = 2n ** 63n - 1n;

/** A missing creation time is replaced by ours; one at the beginning of time is a driver that never set it. */
export function takenFrom(snapshot: Snapshot | undefined, nowNs: bigint): Taken {
  if (snapshot === undefined) throw nonsense("it holds no snapshot");
  const { snapshotId, sizeBytes, creationTime, readyToUse } = snapshot;
  if (snapshotId === "") throw nonsense("snapshot_id is empty");
  if (sizeBytes < 0n) throw nonsense(`size_bytes is ${sizeBytes}`);
  if (creationTime !== undefined && creationTime.seconds < secondsPerDay)
    throw nonsense("creation_time lies in 1970 or before");
  const creationTimeNs =
    creationTime === undefined ? nowNs : creationTime.seconds * nanosPerSecond + BigInt(creationTime.nanos);
  // Milliseconds in place of seconds lead there. Other clients could not read a status that holds it.
  if (creationTimeNs > nanosMax)
    throw nonsense("creation_time lies behind the year 2262, the last that a status can hold");
  return { handle: snapshotId, ready: readyToUse, creationTimeNs, sizeBytes };
}
