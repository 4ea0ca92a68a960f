/** Reads everything a decision about one snapshot needs from the caches, in one synchronous tick. */
import type { KindName } from "../../api/kinds.ts";
import { annotations, snapshotContentNameFor } from "../../api/names.ts";
import type {
  ObjectOf,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";

/** A snapshot names its source once; after this nobody asks again which of two optional names is set. */
export type Source =
  | { readonly kind: "claim"; readonly name: string }
  | { readonly kind: "content"; readonly name: string }
  | { readonly kind: "unclear"; readonly count: 0 | 2 };

export interface SnapshotView {
  readonly snapshot: VolumeSnapshot;
  readonly source: Source;
  /** The content the snapshot names, or the one that is made for it. */
  readonly content: VolumeSnapshotContent | undefined;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly volume: PersistentVolume | undefined;
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  /** Default classes of the volume's driver. */
  readonly defaultClasses: readonly VolumeSnapshotClass[];
  /** Claims, in any namespace, that wait for a volume made from this snapshot. */
  readonly restoring: readonly PersistentVolumeClaim[];
  /** Nodes the volume can be reached from; undefined unless snapshots are taken node by node. */
  readonly node: string | undefined;
  readonly nowMs: Millis;
}

export interface ClaimView {
  readonly claim: PersistentVolumeClaim;
  /** All snapshots, ready or not, that name this claim as their source. */
  readonly snapshots: readonly SnapshotView[];
}

export interface ContentView {
  readonly content: VolumeSnapshotContent;
  /** The snapshot of the name the content points at, whatever its uid. */
  readonly snapshot: VolumeSnapshot | undefined;
}

/** What is read of one kind's cache. */
export interface ReadStore<K extends KindName> {
  get(key: Key): ObjectOf<K> | undefined;
  keysBy(index: string, value: string): Iterable<Key>;
  list(): Iterable<ObjectOf<K>>;
}
export interface SnapshotStores {
  readonly VolumeSnapshot: ReadStore<"VolumeSnapshot">;
  readonly VolumeSnapshotContent: ReadStore<"VolumeSnapshotContent">;
  readonly VolumeSnapshotClass: ReadStore<"VolumeSnapshotClass">;
  readonly PersistentVolumeClaim: ReadStore<"PersistentVolumeClaim">;
  readonly PersistentVolume: ReadStore<"PersistentVolume">;
}

/** The secondary indexes observe looks things up by; index.ts hands them to the stores. */
export const indexes = {
  VolumeSnapshot: {
    claim: ({ metadata, spec }: VolumeSnapshot) =>
      spec.source.persistentVolumeClaimName ? [keyIn(metadata.namespace, spec.source.persistentVolumeClaimName)] : [],
    class: ({ spec }: VolumeSnapshot) => [spec.volumeSnapshotClassName ?? ""],
  },
  PersistentVolumeClaim: {
    restoresFrom: (claim: PersistentVolumeClaim) => restoredSnapshotKeys(claim),
    volume: ({ spec }: PersistentVolumeClaim) => (spec?.volumeName ? [spec.volumeName] : []),
  },
} as const;

const snapshotGroup = "snapshot.storage.k8s.io";

/** dataSourceRef may name a snapshot of another namespace; dataSource never does. */
function restoredSnapshotKeys({ metadata, spec }: PersistentVolumeClaim): Key[] {
  const found = [spec?.dataSourceRef, spec?.dataSource].filter(
    (source) => source?.kind === "VolumeSnapshot" && source.apiGroup === snapshotGroup,
  );
  const keys = found.map((source) =>
    keyIn((source as { namespace?: string }).namespace || metadata.namespace, source?.name ?? ""),
  );
  return [...new Set(keys)];
}

export function sourceOf({ spec }: VolumeSnapshot): Source {
  const { persistentVolumeClaimName: claim, volumeSnapshotContentName: content } = spec.source ?? {};
  if (claim && content) return { kind: "unclear", count: 2 };
  if (claim) return { kind: "claim", name: claim };
  if (content) return { kind: "content", name: content };
  return { kind: "unclear", count: 0 };
}

export const contentNameOf = (snapshot: VolumeSnapshot): string => {
  const source = sourceOf(snapshot);
  return source.kind === "content" ? source.name : snapshotContentNameFor(snapshot.metadata.uid);
};

export function observeSnapshot(
  stores: SnapshotStores,
  key: Key,
  nowMs: Millis,
  nodeOf: (volume: PersistentVolume) => string | undefined = () => undefined,
): SnapshotView | undefined {
  const snapshot = stores.VolumeSnapshot.get(key);
  if (snapshot === undefined) return undefined;
  const source = sourceOf(snapshot);
  const claim =
    source.kind === "claim"
      ? stores.PersistentVolumeClaim.get(keyIn(snapshot.metadata.namespace, source.name))
      : undefined;
  const volume = claim?.spec?.volumeName
    ? stores.PersistentVolume.get(keyIn(undefined, claim.spec.volumeName))
    : undefined;
  const className = snapshot.spec.volumeSnapshotClassName;
  return {
    snapshot,
    source,
    content: stores.VolumeSnapshotContent.get(keyIn(undefined, contentNameOf(snapshot))),
    claim,
    volume,
    snapshotClass: className ? stores.VolumeSnapshotClass.get(keyIn(undefined, className)) : undefined,
    defaultClasses: className ? [] : defaultClassesOf(stores, volume?.spec?.csi?.driver),
    restoring: restoringFrom(stores, key),
    node: volume === undefined ? undefined : nodeOf(volume),
    nowMs,
  };
}

function defaultClassesOf(stores: SnapshotStores, driver: string | undefined): readonly VolumeSnapshotClass[] {
  if (driver === undefined) return [];
  return [...stores.VolumeSnapshotClass.list()].filter(
    (item) => item.driver === driver && item.metadata.annotations?.[annotations.defaultClass] === "true",
  );
}

function restoringFrom(stores: SnapshotStores, key: Key): readonly PersistentVolumeClaim[] {
  const claims = [...stores.PersistentVolumeClaim.keysBy("restoresFrom", key)].map((claimKey) =>
    stores.PersistentVolumeClaim.get(claimKey),
  );
  return claims.filter(
    (claim): claim is PersistentVolumeClaim =>
      claim?.status?.phase === "Pending" && claim.metadata.deletionTimestamp === undefined,
  );
}

export function observeClaim(stores: SnapshotStores, key: Key, nowMs: Millis): ClaimView | undefined {
  const claim = stores.PersistentVolumeClaim.get(key);
  if (claim === undefined) return undefined;
  const snapshots = [...stores.VolumeSnapshot.keysBy("claim", keyOf(claim))].map((snapshotKey) =>
    observeSnapshot(stores, snapshotKey, nowMs),
  );
  return { claim, snapshots: snapshots.filter((view): view is SnapshotView => view !== undefined) };
}

export function observeContent(stores: SnapshotStores, key: Key): ContentView | undefined {
  const content = stores.VolumeSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const { namespace, name } = content.spec.volumeSnapshotRef ?? {};
  return { content, snapshot: name === undefined ? undefined : stores.VolumeSnapshot.get(keyIn(namespace, name)) };
}
