/**
 * Reads groups in replies of the driver. Whatever is wrong with a reply, the ids in it are kept: without them the snapshots could never be
 * deleted. A group whose members are not those that were asked for is never ready.
 */
import type { VolumeSnapshotInfo } from "../../../api/types.ts";
import type { VolumeGroupSnapshot } from "../../../csi/gen/csi_pb.js";
import { malformed, snapshotInfoAs } from "../reply.ts";

/** What the driver says about a group, with impossible values replaced. */
export interface GroupInfo {
  readonly handle: string;
  readonly ready: boolean;
  readonly creationTimeNs: bigint;
  readonly members: readonly VolumeSnapshotInfo[];
  /** Why the members are not those that were asked for; undefined: they are. */
  readonly mismatch: string | undefined;
}

export type GroupAnswer = { readonly kind: "taken"; readonly group: GroupInfo } | { readonly kind: "deleted" };

/** Which snapshots the answer must have: one of each volume, or those that are known already. */
export type Expected =
  | { readonly kind: "volumes"; readonly handles: readonly string[] }
  | {
      readonly kind: "members";
      readonly members: readonly VolumeSnapshotInfo[];
      /** The volumes of a group that was taken here: what was stored of an odd answer stays odd. */
      readonly volumes?: readonly string[] | undefined;
    };

export function groupInfoFrom(group: VolumeGroupSnapshot | undefined, expected: Expected, nowNs: bigint): GroupInfo {
  if (group === undefined) throw malformed("it holds no group snapshot");
  if (group.groupSnapshotId === "") throw malformed("group_snapshot_id is empty");
  const answered = group.snapshots
    .filter(({ snapshotId }) => snapshotId !== "")
    .map((snapshot): VolumeSnapshotInfo => {
      const { handle, ready, creationTimeNs, sizeBytes } = snapshotInfoAs(snapshot.snapshotId, snapshot, nowNs);
      const size = sizeBytes > 0n ? { restoreSize: sizeBytes } : {};
      const volume = snapshot.sourceVolumeId === "" ? {} : { volumeHandle: snapshot.sourceVolumeId };
      return { ...volume, snapshotHandle: handle, creationTime: creationTimeNs, readyToUse: ready, ...size };
    });
  const isNameless = answered.length < group.snapshots.length;
  const members = mergedWith(expected, answered, group.readyToUse);
  const mismatch = isNameless
    ? "a snapshot in the answer has no snapshot_id"
    : expected.kind === "volumes"
      ? volumesMismatch(expected.handles, answered)
      : (membersMismatch(expected.members, answered) ??
        (expected.volumes === undefined ? undefined : volumesMismatch(expected.volumes, members)));
  const when = snapshotInfoAs("", { ...group, sizeBytes: 0n }, nowNs).creationTimeNs;
  const ready = group.readyToUse && members.every(({ readyToUse }) => readyToUse !== false) && mismatch === undefined;
  return { handle: group.groupSnapshotId, ready, creationTimeNs: when, members, mismatch };
}

/** What is known of a member stays, but for its readiness and size. A driver may answer for the whole group, without its members. */
function mergedWith(expected: Expected, answered: readonly VolumeSnapshotInfo[], groupIsReady: boolean) {
  if (expected.kind === "volumes" || expected.members.length === 0) return answered;
  if (answered.length === 0) return expected.members.map((member) => ({ ...member, readyToUse: groupIsReady }));
  const byHandle = new Map(answered.map((member) => [member.snapshotHandle, member]));
  return expected.members.map((member) => {
    const { readyToUse, restoreSize, ...rest } = byHandle.get(member.snapshotHandle) ?? {};
    return {
      ...rest,
      ...member,
      ...(readyToUse === undefined ? {} : { readyToUse }),
      ...(restoreSize === undefined ? {} : { restoreSize }),
    };
  });
}

function volumesMismatch(handles: readonly string[], answered: readonly VolumeSnapshotInfo[]): string | undefined {
  const wanted = new Set(handles);
  const given = answered.map(({ volumeHandle }) => volumeHandle ?? "");
  const foreign = answered.find(({ volumeHandle }) => !wanted.has(volumeHandle ?? ""));
  if (foreign !== undefined)
    return `snapshot "${foreign.snapshotHandle}" is of volume "${foreign.volumeHandle ?? ""}", which was not asked for`;
  const doubled = given.find((handle, index) => given.indexOf(handle) !== index);
  if (doubled !== undefined) return `it has several snapshots of volume "${doubled}"`;
  const ids = answered.map(({ snapshotHandle }) => snapshotHandle);
  const shared = ids.find((id, index) => ids.indexOf(id) !== index);
  if (shared !== undefined) return `snapshot "${shared}" stands for several volumes`;
  const missing = handles.filter((handle) => !given.includes(handle));
  return missing.length === 0 ? undefined : `it has no snapshot of volume "${missing[0]}"`;
}

function membersMismatch(
  members: readonly VolumeSnapshotInfo[],
  answered: readonly VolumeSnapshotInfo[],
): string | undefined {
  if (answered.length === 0 || members.length === 0) return undefined;
  const known = new Set(members.map(({ snapshotHandle }) => snapshotHandle));
  const foreign = answered.find(({ snapshotHandle }) => !known.has(snapshotHandle));
  if (foreign !== undefined) return `snapshot "${foreign.snapshotHandle}" is no member that the group is known to have`;
  const given = new Set(answered.map(({ snapshotHandle }) => snapshotHandle));
  const missing = members.find(({ snapshotHandle }) => !given.has(snapshotHandle));
  return missing === undefined ? undefined : `it no longer has snapshot "${missing.snapshotHandle}"`;
}
