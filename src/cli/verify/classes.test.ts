import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectOf, VolumeSnapshotClass } from "../../api/types.ts";
import { type ClassesRead, type ClassWishes, chooseClasses } from "./classes.ts";

interface More {
  readonly isDefault?: boolean;
  readonly binds?: string;
  readonly day?: number;
}
const metadata = (name: string, annotation: string, { isDefault = false, day = 1 }: More) => ({
  name,
  creationTimestamp: `2026-01-0${day}T00:00:00Z`,
  annotations: { [annotation]: String(isDefault) },
});
const storage = (name: string, provisioner: string, more: More = {}) =>
  ({
    metadata: metadata(name, "storageclass.kubernetes.io/is-default-class", more),
    provisioner,
    volumeBindingMode: more.binds ?? "Immediate",
  }) as unknown as ObjectOf<"StorageClass">;
const snapshots = (name: string, driver: string, more: More = {}) =>
  ({
    metadata: metadata(name, "snapshot.storage.kubernetes.io/is-default-class", more),
    driver,
    deletionPolicy: "Delete",
  }) as unknown as VolumeSnapshotClass;

const isDefault = true;
const fast = storage("fast", "fast.example.com", { isDefault });
const slow = storage("slow", "slow.example.com");
const takesFast = snapshots("takes-fast", "fast.example.com");
const takesSlow = snapshots("takes-slow", "slow.example.com", { isDefault });
const late = storage("late", "late.example.com", { isDefault, binds: "WaitForFirstConsumer" });

const rows: readonly {
  readonly given: string;
  readonly storage: ClassesRead["storageClasses"];
  readonly snapshots: ClassesRead["snapshotClasses"];
  readonly wishes?: Partial<ClassWishes>;
  /** "StorageClass VolumeSnapshotClass", or what blocks. */
  readonly chooses: string | RegExp;
}[] = [
  {
    given: "defaults of one driver",
    storage: [fast, slow],
    snapshots: [takesFast, takesSlow],
    chooses: "fast takes-fast",
  },
  {
    given: "no StorageClass",
    storage: [],
    snapshots: [takesFast],
    chooses: /^there is no StorageClass; .*\[SNAP-851\]$/,
  },
  {
    given: "no default StorageClass",
    storage: [slow],
    snapshots: [takesSlow],
    chooses: /^no StorageClass is the default; there is slow; .*\[SNAP-851\]$/,
  },
  {
    given: "a StorageClass that is named",
    storage: [fast, slow],
    snapshots: [takesFast, takesSlow],
    wishes: { storageClass: "slow" },
    chooses: "slow takes-slow",
  },
  {
    given: "a StorageClass that does not exist",
    storage: [fast],
    snapshots: [takesFast],
    wishes: { storageClass: "none" },
    chooses: /^there is no StorageClass none, but fast; .*\[SNAP-851\]$/,
  },
  {
    given: "a VolumeSnapshotClass that is named",
    storage: [fast, slow],
    snapshots: [takesFast, takesSlow],
    wishes: { snapshotClass: "takes-slow" },
    chooses: "slow takes-slow",
  },
  {
    given: "a VolumeSnapshotClass that does not exist",
    storage: [fast],
    snapshots: [takesFast],
    wishes: { snapshotClass: "none" },
    chooses: /^there is no VolumeSnapshotClass none, but takes-fast; .*\[SNAP-852\]$/,
  },
  {
    given: "a VolumeSnapshotClass without a StorageClass of its driver",
    storage: [fast],
    snapshots: [takesSlow],
    wishes: { snapshotClass: "takes-slow" },
    chooses: /^no StorageClass is of slow\.example\.com.*\[SNAP-851\]$/,
  },
  {
    given: "classes of two drivers that are named",
    storage: [fast, slow],
    snapshots: [takesFast, takesSlow],
    wishes: { storageClass: "fast", snapshotClass: "takes-slow" },
    chooses: /of driver fast\.example\.com, and .* of slow\.example\.com.*\[SNAP-854\]$/,
  },
  {
    given: "a driver without a VolumeSnapshotClass",
    storage: [fast],
    snapshots: [takesSlow],
    chooses:
      /^no VolumeSnapshotClass is of driver fast\.example\.com; create a VolumeSnapshotClass of fast\.example\.com.*\[SNAP-852\]$/,
  },
  {
    given: "a driver with two VolumeSnapshotClasses and no default",
    storage: [fast],
    snapshots: [takesFast, snapshots("other", "fast.example.com")],
    chooses: /takes-fast, other; .*\[SNAP-852\]$/,
  },
  {
    given: "a driver with two VolumeSnapshotClasses and a default",
    storage: [fast],
    snapshots: [takesFast, snapshots("other", "fast.example.com", { isDefault })],
    chooses: "fast other",
  },
  {
    given: "two default StorageClasses",
    storage: [fast, storage("newer", "slow.example.com", { isDefault, day: 2 })],
    snapshots: [takesFast, takesSlow],
    chooses: "newer takes-slow",
  },
  {
    given: "two default VolumeSnapshotClasses",
    storage: [fast],
    snapshots: [
      snapshots("older", "fast.example.com", { isDefault }),
      snapshots("newer", "fast.example.com", { isDefault, day: 2 }),
    ],
    chooses: "fast newer",
  },
  {
    given: "volumes that are made by hand",
    storage: [storage("local", "kubernetes.io/no-provisioner", { isDefault })],
    snapshots: [takesFast],
    chooses: /no-provisioner; .*\[SNAP-853\]$/,
  },
  {
    given: "a class that waits for a pod",
    storage: [late],
    snapshots: [snapshots("takes-late", "late.example.com")],
    chooses: "late takes-late",
  },
  {
    given: "a class that waits for a pod, and no pods",
    storage: [late],
    snapshots: [snapshots("takes-late", "late.example.com")],
    wishes: { hasPods: false },
    chooses: /^StorageClass late waits for a first consumer; .*\[SNAP-855\]$/,
  },
  {
    given: "a class that binds at once, and no pods",
    storage: [fast],
    snapshots: [takesFast],
    wishes: { hasPods: false },
    chooses: "fast takes-fast",
  },
];
for (const { given, chooses, wishes = {}, ...read } of rows)
  test(`given ${given}, ${typeof chooses === "string" ? `the round uses ${chooses}` : "the round is blocked"}`, () => {
    const choice = chooseClasses(
      { storageClasses: read.storage, snapshotClasses: read.snapshots },
      { storageClass: "", snapshotClass: "", hasPods: true, ...wishes },
    );
    if (choice.kind === "blocked") assert.match(choice.why, chooses instanceof RegExp ? chooses : /^$/);
    else assert.equal(`${choice.chosen.storageClass} ${choice.chosen.snapshotClass}`, chooses);
  });
