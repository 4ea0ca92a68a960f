/**
 * Why a volume cannot be made from a VolumeSnapshot, or from another claim, now. Each rule looks at objects alone; the first that is
 * broken is reported to the user of the claim.
 */
import { annotations } from "../api/names.ts";
import type { CodedMessage } from "../api/plan.ts";
import type { PersistentVolume, PersistentVolumeClaim, VolumeSnapshot, VolumeSnapshotContent } from "../api/types.ts";
import { keyOf } from "../api/types.ts";
import { parseQuantity, wholeUnits } from "../base/quantity.ts";
import { type ErrorCode, fix, withCode } from "../errors/codes.ts";
import { pointsAt } from "./binding-rules.ts";
import type { Permitted } from "./source-access.ts";

export interface Restore {
  readonly claim: PersistentVolumeClaim;
  /** That the claim may use the source. */
  readonly access: Permitted;
  readonly requestedBytes: bigint;
  readonly driver: string;
  /** "namespace/name", as the claim names it, or its link. */
  readonly snapshotKey: string;
  /** Name of the VolumeSnapshotLink that names the snapshot. */
  readonly link?: string | undefined;
  readonly snapshot: VolumeSnapshot | undefined;
  readonly content: VolumeSnapshotContent | undefined;
  /** CreateVolume may have been called for this claim before: the restore is finished also when the snapshot is being deleted. */
  readonly isStarted: boolean;
  readonly preventsModeChange: boolean;
}

/** A snapshot and content that passed all rules. */
export interface RestoreSource {
  readonly kind: "snapshot";
  readonly handle: string;
}
export interface SourceViolation {
  readonly kind: "wrong";
  readonly code: ErrorCode;
  readonly message: CodedMessage;
}

const wrong = (code: ErrorCode, message: string): SourceViolation => ({
  kind: "wrong",
  code,
  message: withCode(message, code),
});

export function restoreSource(restore: Restore): RestoreSource | SourceViolation {
  const { snapshot, content, driver, snapshotKey, link, isStarted } = restore;
  const of = `VolumeSnapshot ${snapshotKey}${link === undefined ? "" : `, which VolumeSnapshotLink ${link} names,`}`;
  if (snapshot === undefined) {
    const remedy = link === undefined ? fix("SNAP-301", "it") : fix("SNAP-301", "it", "spec.source in a new link");
    return wrong("SNAP-301", `${of} does not exist: ${remedy}`);
  }
  if (snapshot.metadata.deletionTimestamp !== undefined && !isStarted && !isWaitedFor(restore.claim, snapshot))
    return wrong("SNAP-302", `${of} is being deleted: ${fix("SNAP-302")}`);
  const bound = snapshot.status?.boundVolumeSnapshotContentName;
  if (!bound)
    return wrong("SNAP-303", `${of} is not bound to a VolumeSnapshotContent yet; the restore starts when it is`);
  if (content === undefined)
    return wrong("SNAP-304", `VolumeSnapshotContent ${bound} of ${of} does not exist: the snapshot cannot be restored`);
  if (!pointsAt(content, snapshot))
    return wrong(
      "SNAP-305",
      `VolumeSnapshotContent ${bound} is bound to another VolumeSnapshot than ${snapshotKey}: ${fix("SNAP-305")}`,
    );
  if (content.spec.driver !== driver)
    return wrong(
      "SNAP-306",
      `${of} belongs to driver ${content.spec.driver}, the StorageClass of the claim to ${driver}: ${fix("SNAP-306", content.spec.driver)}`,
    );
  if (snapshot.status?.readyToUse !== true)
    return wrong("SNAP-307", `${of} is not ready to use yet; the restore starts when status.readyToUse is true`);
  const handle = content.status?.snapshotHandle;
  if (!handle) return wrong("SNAP-308", `VolumeSnapshotContent ${bound} has no status.snapshotHandle yet`);
  return tooSmall(restore, snapshot) ?? otherMode(restore, content) ?? { kind: "snapshot", handle };
}

/**
 * A claim of the snapshot's namespace that came before the deletion is finished: snapshot-controller holds the snapshot for it. For a
 * claim of another namespace it does so only once a call is stored (docs/decisions/0013).
 */
const isWaitedFor = ({ metadata }: PersistentVolumeClaim, snapshot: VolumeSnapshot): boolean =>
  metadata.namespace === snapshot.metadata.namespace &&
  !(Date.parse(metadata.creationTimestamp ?? "") > Date.parse(snapshot.metadata.deletionTimestamp ?? ""));

function tooSmall({ requestedBytes }: Restore, { status, metadata }: VolumeSnapshot): SourceViolation | undefined {
  const size = status?.restoreSize;
  const needed = size === undefined ? 0n : sizeIn(size);
  return requestedBytes >= needed
    ? undefined
    : wrong(
        "SNAP-136",
        `spec.resources.requests.storage is ${requestedBytes} bytes, but VolumeSnapshot ${metadata.namespace}/${metadata.name} needs ${needed}: ${fix("SNAP-136", `${size} in a new claim`)}`,
      );
}

const sizeIn = (size: string | number): bigint => {
  try {
    return wholeUnits(parseQuantity(size));
  } catch {
    return 0n;
  }
};

const trueWords = new Set(["1", "t", "T", "TRUE", "true", "True"]);

function otherMode(
  { claim, preventsModeChange }: Restore,
  content: VolumeSnapshotContent,
): SourceViolation | undefined {
  const from = content.spec.sourceVolumeMode;
  const to = claim.spec?.volumeMode;
  if (!preventsModeChange || from === undefined || to === undefined || from === to) return undefined;
  const allowed = content.metadata.annotations?.[annotations.allowVolumeModeChange];
  if (allowed !== undefined && trueWords.has(allowed)) return undefined;
  return wrong(
    "SNAP-309",
    `spec.volumeMode of claim ${keyOf(claim)} is ${to}, but the snapshot is of a ${from} volume: ${fix("SNAP-309", from, `VolumeSnapshotContent ${content.metadata.name}`)}`,
  );
}

export interface Clone {
  readonly claim: PersistentVolumeClaim;
  /** That the claim may use the source. */
  readonly access: Permitted;
  readonly requestedBytes: bigint;
  readonly driver: string;
  readonly sourceKey: string;
  readonly source: PersistentVolumeClaim | undefined;
  readonly volume: PersistentVolume | undefined;
  readonly isStarted: boolean;
}

export interface CloneSource {
  readonly kind: "volume";
  readonly handle: string;
}

export function cloneSource(clone: Clone): CloneSource | SourceViolation {
  const { claim, source, volume, driver, sourceKey, requestedBytes, isStarted } = clone;
  const of = `PersistentVolumeClaim ${sourceKey}`;
  if (source === undefined) return wrong("SNAP-321", `${of} does not exist: ${fix("SNAP-321", "it")}`);
  if (source.metadata.deletionTimestamp !== undefined && !isStarted)
    return wrong("SNAP-322", `${of} is being deleted: ${fix("SNAP-322")}`);
  if (source.status?.phase !== "Bound" || !source.spec?.volumeName)
    return wrong("SNAP-323", `${of} is not bound to a volume yet; the clone starts when it is`);
  const sourceBytes = sizeIn(source.spec.resources?.requests?.storage ?? "0");
  if (requestedBytes < sourceBytes)
    return wrong(
      "SNAP-324",
      `spec.resources.requests.storage is ${requestedBytes} bytes, but ${of} requests ${sourceBytes}: ${fix("SNAP-324", "as much")}`,
    );
  if (volume?.spec?.csi?.driver !== driver || !isVolumeOf(volume, source))
    return wrong("SNAP-325", `${of} is not a volume of driver ${driver}: ${fix("SNAP-325")}`);
  if ((source.spec.volumeMode ?? "Filesystem") !== (claim.spec?.volumeMode ?? "Filesystem"))
    return wrong(
      "SNAP-326",
      `spec.volumeMode of claim ${keyOf(claim)} differs from that of ${of}: ${fix("SNAP-326", source.spec.volumeMode ?? "Filesystem")}`,
    );
  return { kind: "volume", handle: volume.spec.csi.volumeHandle };
}

const isVolumeOf = ({ spec, status }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean =>
  spec?.claimRef?.uid === metadata.uid && status?.phase === "Bound";
