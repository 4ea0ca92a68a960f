/** What a monitor is, and how it reads the history. Each is a pure function; undefined means that its promise holds. */
import { annotations } from "../../../src/api/names.ts";
import type {
  KubeObject,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../../../src/api/types.ts";
import type { CsiSent, Note, Past, Seen, WatchedKind, Write } from "../record.ts";

export type Counter = "leaked snapshots" | "lost snapshots" | "stuck finalizers" | "double cuts" | "secrets seen";

export interface Monitor {
  readonly id: string;
  readonly promise: string;
  readonly counter?: Counter;
  onWrite?(write: Write, seen: Seen): string | undefined;
  onCall?(call: CsiSent, seen: Seen): string | undefined;
  onNote?(note: Note, seen: Seen): string | undefined;
  atRest?(seen: Seen): string | undefined;
}

export const isOurs = ({ actor }: Write): boolean => actor === "snapshot-controller" || actor === "csi-snapshotter";

const all = <T extends KubeObject>(seen: Seen, kind: WatchedKind): readonly T[] => [
  ...(seen.objects(kind).values() as Iterable<unknown> as Iterable<T>),
];
export const snapshotsIn = (seen: Seen): readonly VolumeSnapshot[] => all(seen, "VolumeSnapshot");
export const contentsIn = (seen: Seen): readonly VolumeSnapshotContent[] => all(seen, "VolumeSnapshotContent");
export const claimsIn = (seen: Seen): readonly PersistentVolumeClaim[] => all(seen, "PersistentVolumeClaim");
export const classesIn = (seen: Seen): readonly VolumeSnapshotClass[] => all(seen, "VolumeSnapshotClass");

export const contentIn = (object: KubeObject | undefined): VolumeSnapshotContent | undefined =>
  object as VolumeSnapshotContent | undefined;
export const snapshotIn = (object: KubeObject | undefined): VolumeSnapshot | undefined =>
  object as VolumeSnapshot | undefined;

export const isMarked = (content: VolumeSnapshotContent): boolean =>
  content.metadata.annotations?.[annotations.beingCreated] === "yes";
export const handleOf = (content: VolumeSnapshotContent): string | undefined =>
  content.status?.snapshotHandle ?? content.spec.source?.snapshotHandle;
export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
export const has = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) === true;

/** The uid in the name asked of the driver. */
export const uidInName = (name: string): string => name.replace(/^snapshot-/, "");

/** All versions of all contents that a cache could hold at this time. */
export function recentContents(seen: Seen, atMs: number): readonly VolumeSnapshotContent[] {
  const isRecent = ({ untilMs }: Past): boolean => untilMs >= atMs - seen.lagMs;
  return seen
    .everyPast("VolumeSnapshotContent")
    .filter(isRecent)
    .map(({ object }) => object as VolumeSnapshotContent);
}

/** Claims that wait for a volume made from this snapshot, and did so before it was deleted. */
export const restoringFrom = (seen: Seen, { metadata }: VolumeSnapshot): readonly PersistentVolumeClaim[] =>
  claimsIn(seen).filter(
    (claim) =>
      claim.status?.phase === "Pending" &&
      !isGoing(claim) &&
      (claim.metadata.creationTimestamp ?? "") <= (metadata.deletionTimestamp ?? "9") &&
      claim.metadata.namespace === metadata.namespace &&
      claim.spec?.dataSource?.kind === "VolumeSnapshot" &&
      claim.spec.dataSource.name === metadata.name,
  );
