/**
 * Finds the snapshot of a pre-provisioned content by ListSnapshots, filtered by the handle.
 *
 * Drivers canonicalise ids: another case, or a full resource id for a bare name. A single entry with another id is therefore the
 * requested snapshot, unless the driver ignores the filter; a second request, for an id that cannot exist, shows that. Several entries
 * mean that the filter was ignored: then only the exact id counts, on whichever page it is.
 */
import { Fault, isFinal } from "../../base/fault.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { Snapshot } from "../../csi/gen/csi_pb.js";
import { sidecarLimits } from "./limits.ts";
import { malformed, type SnapshotInfo, snapshotInfoAs } from "./reply.ts";

export interface Listing {
  readonly csi: Pick<CsiClient, "controller">;
  readonly handle: string;
  readonly secrets: Record<string, string>;
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
}

/** CSI limits ids to 128 bytes and nothing else, so only its wording keeps this id from existing. */
export const impossibleHandle = "snapkeep.dev/no-snapshot-has-this-id";

export async function findSnapshot(listing: Listing): Promise<SnapshotInfo> {
  const { handle, nowNs } = listing;
  const { exact, only, isTruncated } = await walk(listing);
  if (exact !== undefined) return snapshotInfoAs(handle, exact, nowNs);
  if (only === undefined || (await ignoresFilter(listing))) throw notFound(handle, isTruncated);
  const { snapshot } = only;
  if (snapshot === undefined) throw malformed("the entry of ListSnapshots holds no snapshot");
  const taken = snapshotInfoAs(handle, snapshot, nowNs);
  const spelling = `ListSnapshots answers snapshot_id "${snapshot.snapshotId}" for "${handle}": it is taken for the same snapshot, and the handle stays as spec.source.snapshotHandle has it`;
  return { ...taken, oddities: [...taken.oddities, spelling] };
}

interface Found {
  readonly exact: Snapshot | undefined;
  /** The only entry of the whole list. */
  readonly only: { readonly snapshot?: Snapshot | undefined } | undefined;
  /** The list has more pages than the limit. */
  readonly isTruncated: boolean;
}

async function walk({ csi, handle, secrets, signal }: Listing): Promise<Found> {
  let first: Found["only"];
  let count = 0;
  let startingToken = "";
  for (let page = 0; page < sidecarLimits.listSnapshotsPagesMax; page++) {
    const { entries, nextToken } = await csi.controller.listSnapshots(
      { snapshotId: handle, startingToken, secrets },
      { signal },
    );
    const exact = entries.find(({ snapshot }) => snapshot?.snapshotId === handle)?.snapshot;
    if (exact !== undefined) return { exact, only: undefined, isTruncated: false };
    first ??= entries[0];
    count += entries.length;
    // A driver that returns the token it was given would never end the list.
    if (nextToken === "" || nextToken === startingToken)
      return { exact, only: count === 1 ? first : undefined, isTruncated: false };
    startingToken = nextToken;
  }
  return { exact: undefined, only: undefined, isTruncated: true };
}

async function ignoresFilter({ csi, secrets, signal }: Listing): Promise<boolean> {
  try {
    const { entries } = await csi.controller.listSnapshots({ snapshotId: impossibleHandle, secrets }, { signal });
    return entries.length > 0;
  } catch (reason) {
    // A driver that rejects the id has applied the filter. If it cannot be reached, the call is retried later.
    if (signal.aborted || !isFinal(Fault.from(reason))) throw reason;
    return false;
  }
}

const notFound = (handle: string, isTruncated: boolean): Fault =>
  new Fault(
    "NotFound",
    `can not find snapshot for snapshotID ${handle}${isTruncated ? ` on the first ${sidecarLimits.listSnapshotsPagesMax} pages of ListSnapshots, whose filter the driver ignores` : ""}: correct spec.source.snapshotHandle, or bring the snapshot back`,
  );
