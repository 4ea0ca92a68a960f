/**
 * What is at the driver and not in the cluster, and the other way round. Pure.
 *
 * Snapshots are taken and deleted meanwhile, so driver and cluster are read in turns: driver, cluster, driver, cluster. What was there
 * in both readings of the one and in neither of the other is an orphan. A content is stored before its snapshot is taken, and goes after
 * it is deleted; only while CreateSnapshot is under way does a content have no handle, and then a snapshot of its volume may be its own.
 */

import { provisioning } from "../../api/names.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../../api/types.ts";
import { count } from "../findings/count.ts";
import type { DriverLists } from "./driver-lists.ts";

export const orphanKinds = ["snapshot", "content", "retained", "volume"] as const;
export type OrphanKind = (typeof orphanKinds)[number];

export interface Orphan {
  /**
   * snapshot: the driver has it, and no VolumeSnapshotContent. content: its snapshot is not at the driver. retained: a content with Retain
   * whose VolumeSnapshot is gone. volume: the driver has it, and no PersistentVolume.
   */
  readonly kind: OrphanKind;
  readonly handle: string;
  /** The content, where there is one. */
  readonly object: string | undefined;
  /** Undefined: not known. */
  readonly bytes: bigint | undefined;
  readonly createdMs: number | undefined;
  /** The volume that a snapshot was taken of. */
  readonly sourceVolume: string | undefined;
}

export interface ClusterLists {
  readonly contents: readonly VolumeSnapshotContent[];
  readonly snapshots: readonly VolumeSnapshot[];
  readonly volumes: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
}

export interface OrphansRead {
  readonly driver: string;
  readonly atDriver: readonly [DriverLists, DriverLists];
  readonly inCluster: readonly [ClusterLists, ClusterLists];
  /** Handles of contents that the driver's list does not have, and by which the driver finds a snapshot: with the driver's spelling. */
  readonly spelled: ReadonlyMap<string, string>;
}

export interface OrphansFound {
  readonly orphans: readonly Orphan[];
  /** What cannot be known, and why. */
  readonly unknown: readonly string[];
}

export function findOrphans(read: OrphansRead): OrphansFound {
  const unknown: string[] = [];
  const orphans = [
    ...snapshotsWithoutContent(read, unknown),
    ...contentsWithoutSnapshot(read),
    ...retainedContents(read),
    ...volumesWithoutObject(read, unknown),
  ];
  return { orphans, unknown };
}

export const handleOf = ({ status, spec }: VolumeSnapshotContent): string | undefined =>
  status?.snapshotHandle || spec.source.snapshotHandle || undefined;
const ofDriver = ({ driver, inCluster }: OrphansRead): readonly VolumeSnapshotContent[] =>
  inCluster.flatMap(({ contents }) => contents).filter(({ spec }) => spec.driver === driver);

function snapshotsWithoutContent(read: OrphansRead, unknown: string[]): readonly Orphan[] {
  const [first, second] = read.atDriver;
  if (first.snapshots === undefined || second.snapshots === undefined) {
    unknown.push(
      `driver ${read.driver} cannot list snapshots (LIST_SNAPSHOTS): whether it has some without content is not known`,
    );
    return [];
  }
  const contents = ofDriver(read);
  const known = new Set([...contents.map(handleOf), ...read.spelled.values()]);
  const beingTaken = new Set(
    contents.filter((each) => handleOf(each) === undefined).map(({ spec }) => spec.source.volumeHandle),
  );
  const still = new Set(second.snapshots.map(({ handle }) => handle));
  const candidates = first.snapshots.filter(({ handle }) => !known.has(handle) && still.has(handle));
  const [unclear, found] = divided(candidates, ({ sourceVolume }) => beingTaken.has(sourceVolume));
  if (unclear.length > 0)
    unknown.push(
      `${count(unclear.length, "listed snapshot")} may be of a CreateSnapshot call under way: run again when the snapshots of the same volumes are ready`,
    );
  return found.map(({ handle, sourceVolume, bytes, createdMs }) => ({
    kind: "snapshot",
    handle,
    object: undefined,
    bytes: bytes > 0n ? bytes : undefined,
    createdMs,
    sourceVolume: sourceVolume || undefined,
  }));
}

function contentsWithoutSnapshot({ driver, atDriver, inCluster, spelled }: OrphansRead): readonly Orphan[] {
  const listed = atDriver.map(({ snapshots }) => snapshots);
  if (listed.some((snapshots) => snapshots === undefined)) return [];
  const handles = new Set(listed.flatMap((snapshots) => (snapshots ?? []).map(({ handle }) => handle)));
  const [first, second] = inCluster;
  const later = new Map(second.contents.map((content) => [content.metadata.uid, content]));
  return first.contents
    .filter((content) => content.spec.driver === driver && content.metadata.deletionTimestamp === undefined)
    .filter((content) => content.status?.readyToUse === true)
    .flatMap((content) => {
      const handle = handleOf(content);
      const again = later.get(content.metadata.uid);
      const isThere = handle === undefined || handles.has(handle) || spelled.has(handle);
      if (isThere || again === undefined || again.metadata.deletionTimestamp !== undefined) return [];
      return [orphanOf("content", content, handle)];
    });
}

function retainedContents({ driver, inCluster }: OrphansRead): readonly Orphan[] {
  const uids = new Set(inCluster.flatMap(({ snapshots }) => snapshots.map(({ metadata }) => metadata.uid)));
  const [first, second] = inCluster;
  const still = new Set(second.contents.map(({ metadata }) => metadata.uid));
  return first.contents
    .filter(
      ({ spec, metadata }) => spec.driver === driver && spec.deletionPolicy === "Retain" && still.has(metadata.uid),
    )
    .filter(({ spec }) => spec.volumeSnapshotRef.uid !== undefined && !uids.has(spec.volumeSnapshotRef.uid))
    .flatMap((content) => {
      const handle = handleOf(content);
      return handle === undefined ? [] : [orphanOf("retained", content, handle)];
    });
}

const orphanOf = (kind: OrphanKind, { metadata, status, spec }: VolumeSnapshotContent, handle: string): Orphan => ({
  kind,
  handle,
  object: metadata.name,
  bytes: status?.restoreSize === undefined ? undefined : BigInt(status.restoreSize),
  createdMs: Date.parse(metadata.creationTimestamp ?? "") || undefined,
  sourceVolume: spec.source.volumeHandle,
});

function volumesWithoutObject({ driver, atDriver, inCluster }: OrphansRead, unknown: string[]): readonly Orphan[] {
  const [first, second] = atDriver;
  if (first.volumes === undefined || second.volumes === undefined) {
    unknown.push(
      `driver ${driver} cannot list volumes (LIST_VOLUMES): whether it has some without PersistentVolume is not known`,
    );
    return [];
  }
  const known = new Set(
    inCluster.flatMap(({ volumes }) =>
      volumes.flatMap(({ spec }) => (spec?.csi?.driver === driver ? [spec.csi.volumeHandle] : [])),
    ),
  );
  const still = new Set(second.volumes.map(({ handle }) => handle));
  const found = first.volumes.filter(({ handle }) => !known.has(handle) && still.has(handle));
  const waiting = inCluster[0].claims.filter((claim) => isBeingMade(claim, driver));
  if (waiting.length > 0 && found.length > 0) {
    unknown.push(
      `${count(found.length, "volume")} without PersistentVolume may be made for one of ${count(waiting.length, "claim")} that wait for a volume of driver ${driver}: run again when no claim waits`,
    );
    return [];
  }
  return found.map(({ handle, bytes }) => ({
    kind: "volume",
    handle,
    object: undefined,
    bytes: bytes > 0n ? bytes : undefined,
    createdMs: undefined,
    sourceVolume: undefined,
  }));
}

const isBeingMade = ({ metadata, spec, status }: PersistentVolumeClaim, driver: string): boolean =>
  metadata.annotations?.[provisioning.storageProvisioner] === driver && !spec?.volumeName && status?.phase !== "Bound";

const divided = <T>(all: readonly T[], isFirst: (each: T) => boolean): readonly [readonly T[], readonly T[]] => [
  all.filter(isFirst),
  all.filter((each) => !isFirst(each)),
];

export interface OrphanFilter {
  readonly kinds: readonly string[];
  /** 0: all. Otherwise only those whose age is known. */
  readonly olderThanMs: number;
}

export const filtered = (
  { orphans, unknown }: OrphansFound,
  { kinds, olderThanMs }: OrphanFilter,
  nowMs: number,
): OrphansFound => ({
  unknown,
  orphans: orphans.filter(
    ({ kind, createdMs }) =>
      (kinds.length === 0 || kinds.includes(kind)) &&
      (olderThanMs === 0 || (createdMs !== undefined && createdMs + olderThanMs <= nowMs)),
  ),
});
