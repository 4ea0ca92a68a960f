/** The status of a snapshot, derived from the status of its content. */
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { binaryQuantity, parseQuantity, printQuantity } from "../../base/quantity.ts";
import { rfc3339 } from "../../base/time.ts";
import { memberContentNameOf, ownerGroupOf } from "../../rules/group-members.ts";
import { isBecomingReady } from "./observe.ts";

type Status = NonNullable<VolumeSnapshot["status"]>;

/**
 * creationTime and restoreSize are written once: they are facts about the data. readyToUse never becomes false again, because a
 * restore may have begun, whatever the driver reports later. Fields of other controllers (the group's) stay as they are.
 */
export function statusFrom(snapshot: VolumeSnapshot, content: VolumeSnapshotContent, now: string): Status {
  // One write for all that the sidecar has said; what is said already stays until then.
  if (isBecomingReady(content) && snapshot.status?.readyToUse !== true)
    return { ...snapshot.status, boundVolumeSnapshotContentName: content.metadata.name, readyToUse: false };
  const { error: oldError, ...old } = snapshot.status ?? {};
  const said = content.status ?? {};
  const readyToUse = old.readyToUse === true || (said.readyToUse === true && Boolean(said.snapshotHandle));
  const creationTime =
    old.creationTime ??
    (said.creationTime === undefined ? undefined : rfc3339(Number(BigInt(said.creationTime) / 1_000_000n)));
  const restoreSize = isSize(old.restoreSize)
    ? old.restoreSize
    : said.restoreSize === undefined
      ? old.restoreSize
      : printQuantity(binaryQuantity(said.restoreSize));
  const error = readyToUse || said.error === undefined ? undefined : sameError(oldError, said.error, now);
  const group = memberContentNameOf(snapshot) === undefined ? undefined : ownerGroupOf(snapshot);
  return {
    ...old,
    boundVolumeSnapshotContentName: content.metadata.name,
    readyToUse,
    ...(group === undefined ? {} : { volumeGroupSnapshotName: group.name }),
    ...(creationTime === undefined ? {} : { creationTime }),
    ...(restoreSize === undefined ? {} : { restoreSize }),
    ...(error === undefined ? {} : { error }),
  };
}

/** An error with the same message keeps its time: otherwise every reconcile would write the status. */
const sameError = (
  old: Status["error"],
  said: NonNullable<Status["error"]>,
  now: string,
): NonNullable<Status["error"]> =>
  old?.message === said.message && old !== undefined ? old : { message: said.message ?? "", time: said.time ?? now };

function isSize(size: Status["restoreSize"]): boolean {
  if (size === undefined) return false;
  try {
    return parseQuantity(size).nanos > 0n;
  } catch {
    return false;
  }
}
