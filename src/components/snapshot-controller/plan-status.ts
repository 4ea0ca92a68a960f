/** What a snapshot's status should say, given what its content says. */
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { binaryQuantity, parseQuantity, printQuantity } from "../../base/quantity.ts";
import { rfc3339 } from "../../base/time.ts";

type Status = NonNullable<VolumeSnapshot["status"]>;

/**
 * creationTime and restoreSize are written once: they are facts about the data. Readiness never goes back, because a restore may
 * have begun; a driver that changes its mind is not believed. Fields we do not own (the group's) stay as they are.
 */
export function statusFrom(snapshot: VolumeSnapshot, content: VolumeSnapshotContent, now: string): Status {
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
  return {
    ...old,
    boundVolumeSnapshotContentName: content.metadata.name,
    readyToUse,
    ...(creationTime === undefined ? {} : { creationTime }),
    ...(restoreSize === undefined ? {} : { restoreSize }),
    ...(error === undefined ? {} : { error }),
  };
}

/** An error of the same message is the same error: its time must not move, or every pass would write. */
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
