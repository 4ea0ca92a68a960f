/** All triggers of the three controllers: which keys are reconciled when an object changes. */
import type { PersistentVolume, VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Key, keyIn } from "../../base/brand.ts";
import type { StoresOf, StoreTable } from "../../kube/stores.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import type { Triggers } from "../../runtime/controller.ts";
import { claimKeyOf, indexes } from "./observe.ts";
import { restoredSnapshotKeys } from "./restoring.ts";

export const storeTable = {
  VolumeSnapshot: { indexes: indexes.VolumeSnapshot },
  VolumeSnapshotContent: { indexes: indexes.VolumeSnapshotContent },
  VolumeSnapshotClass: {},
  PersistentVolumeClaim: { indexes: indexes.PersistentVolumeClaim },
  PersistentVolume: {},
} as const satisfies StoreTable;

export type SnapshotStores = StoresOf<typeof storeTable>;

const snapshotsOf = (stores: SnapshotStores, { metadata, spec }: VolumeSnapshotContent): readonly Key[] => {
  const { namespace, name } = spec.volumeSnapshotRef ?? {};
  const named = stores.VolumeSnapshot.keysBy("content", metadata.name);
  return name === undefined ? named : [keyIn(namespace, name), ...named];
};
const snapshotsOfVolume = (stores: SnapshotStores, { spec }: PersistentVolume): readonly Key[] =>
  spec?.claimRef?.name === undefined
    ? []
    : stores.VolumeSnapshot.keysBy("claim", keyIn(spec.claimRef.namespace, spec.claimRef.name));
/** A class triggers the snapshots that name it, and those that wait for a default class. */
const snapshotsOfClass = (stores: SnapshotStores, name: string): readonly Key[] =>
  ["", name].flatMap((value) => stores.VolumeSnapshot.keysBy("class", value));

export const snapshotTriggers: Triggers<SnapshotStores> = {
  VolumeSnapshot: (snapshot) => [keyOf(snapshot)],
  VolumeSnapshotContent: (content, stores) => snapshotsOf(stores, content),
  VolumeSnapshotClass: ({ metadata }, stores) => snapshotsOfClass(stores, metadata.name),
  PersistentVolumeClaim: (claim, stores) => [
    ...stores.VolumeSnapshot.keysBy("claim", keyOf(claim)),
    ...restoredSnapshotKeys(claim),
  ],
  PersistentVolume: (volume, stores) => snapshotsOfVolume(stores, volume),
};

/** The claim that a snapshot is taken of, if it names one. */
export function claimOf(snapshot: VolumeSnapshot): readonly Key[] {
  const key = claimKeyOf(snapshot);
  return key === undefined ? [] : [key];
}
const claimsOf = (stores: SnapshotStores, snapshotKeys: readonly Key[]): readonly Key[] =>
  snapshotKeys.flatMap((key) => {
    const snapshot = stores.VolumeSnapshot.get(key);
    return snapshot === undefined ? [] : claimOf(snapshot);
  });

export const claimTriggers: Triggers<SnapshotStores> = {
  PersistentVolumeClaim: (claim) => [keyOf(claim)],
  VolumeSnapshot: (snapshot) => claimOf(snapshot),
  VolumeSnapshotContent: (content, stores) => claimsOf(stores, snapshotsOf(stores, content)),
  VolumeSnapshotClass: ({ metadata }, stores) => claimsOf(stores, snapshotsOfClass(stores, metadata.name)),
  PersistentVolume: ({ spec }) => (spec?.claimRef?.name ? [keyIn(spec.claimRef.namespace, spec.claimRef.name)] : []),
};

export const contentTriggers: Triggers<SnapshotStores> = {
  VolumeSnapshotContent: (content) => [keyOf(content)],
  VolumeSnapshot: (snapshot) => [keyIn(undefined, contentNameOf(snapshot))],
  VolumeSnapshotClass: ({ metadata }, stores) =>
    stores.VolumeSnapshotContent.keysBy("beingCreatedByClass", metadata.name),
};
