/**
 * Whether the driver has the snapshot of a pre-provisioned content, by ListSnapshots filtered by its handle.
 *
 * Drivers canonicalise: a handle in another case, or a full resource id for a bare name. One entry under another id is therefore
 * the snapshot that was asked for, unless the driver ignores the filter, which an id that cannot exist tells. Several entries mean
 * that it was ignored: then only the exact id counts, on whichever page it stands.
 */
import { Fault, isFinal } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { Snapshot } from "../../csi/gen/csi_pb.js";
import type { SnapshotInfo } from "./observe.ts";
import { malformed, snapshotInfoAs } from "./reply.ts";

export interface Listing {
  readonly csi: Pick<CsiClient, "controller">;
  readonly handle: string;
  readonly secrets: Record<string, string>;
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
}

/** CSI lets ids have 128 bytes and asks for nothing else, so that only its words keep this one from existing. */
export const impossibleHandle = "snapkeep.dev/no-snapshot-has-this-id";

export async function findSnapshot(listing: Listing): Promise<SnapshotInfo> {
  const { handle, nowNs } = listing;
  const { exact, only, isCutShort } = await walk(listing);
  if (exact !== undefined) return snapshotInfoAs(handle, exact, nowNs);
  if (only === undefined || (await ignoresFilter(listing))) throw notFound(handle, isCutShort);
  const { snapshot } = only;
  if (snapshot === undefined) throw malformed("the entry of ListSnapshots holds no snapshot");
  const taken = snapshotInfoAs(handle, snapshot, nowNs);
  const spelling = `ListSnapshots answers snapshot_id "${snapshot.snapshotId}" for "${handle}": it is taken for the same snapshot, and the handle stays as spec.source.snapshotHandle has it`;
  return { ...taken, oddities: [...taken.oddities, spelling] };
}

interface Found {
  readonly exact: Snapshot | undefined;
  /** The one entry there is. */
  readonly only: { readonly snapshot?: Snapshot | undefined } | undefined;
  /** There are more pages than are looked at. */
  readonly isCutShort: boolean;
}

async function walk({ csi, handle, secrets, signal }: Listing): Promise<Found> {
  let first: Found["only"];
  let count = 0;
  let startingToken = "";
  for (let page = 0; page < limits.listSnapshotsPagesMax; page++) {
    const { entries, nextToken } = await csi.controller.listSnapshots(
      { snapshotId: handle, startingToken, secrets },
      { signal },
    );
    const exact = entries.find(({ snapshot }) => snapshot?.snapshotId === handle)?.snapshot;
    if (exact !== undefined) return { exact, only: undefined, isCutShort: false };
    first ??= entries[0];
    count += entries.length;
    // A driver that answers the token it was given would lead in a circle.
    if (nextToken === "" || nextToken === startingToken)
      return { exact, only: count === 1 ? first : undefined, isCutShort: false };
    startingToken = nextToken;
  }
  return { exact: undefined, only: undefined, isCutShort: true };
}

async function ignoresFilter({ csi, secrets, signal }: Listing): Promise<boolean> {
  try {
    const { entries } = await csi.controller.listSnapshots({ snapshotId: impossibleHandle, secrets }, { signal });
    return entries.length > 0;
  } catch (reason) {
    // Whoever refuses the id has looked at it; whoever cannot be asked now is asked again later.
    if (signal.aborted || !isFinal(Fault.from(reason))) throw reason;
    return false;
  }
}

const notFound = (handle: string, isCutShort: boolean): Fault =>
  new Fault(
    "NotFound",
    `can not find snapshot for snapshotID ${handle}${isCutShort ? ` on the first ${limits.listSnapshotsPagesMax} pages of ListSnapshots, whose filter the driver ignores` : ""}: correct spec.source.snapshotHandle, or bring the snapshot back`,
  );
