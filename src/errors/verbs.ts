/** What keeps a snapshot from being taken, restored or deleted from the command line: SNAP-87x. */
import type { ErrorRow } from "./row.ts";

export const verbErrorRows = {
  "SNAP-871": {
    title: "What is waited for needs a person",
    why: "Neither a controller nor the driver acts next. The object stays, and goes on by itself once the cause is mended.",
    fix: "do what the explanation below says, then wait again",
  },
  "SNAP-872": {
    title: "The claim cannot be snapshotted",
    why: "A snapshot is taken of the volume that a claim has. A claim that is being deleted, or is not there, has none to take.",
    fix: "name a claim of the namespace that has a volume; kubectl get pvc lists them",
  },
  "SNAP-873": {
    title: "There is no such snapshot to restore",
    why: "The claim would wait for it, and could bind to a snapshot that is created under this name later.",
    fix: "name a VolumeSnapshot that is there, with --namespace if it is in another one; snapkeep get lists them",
  },
  "SNAP-874": {
    title: "No StorageClass is known for the restored claim",
    why: "The snapshot can be restored only by a class of its own driver, and the claim that it was taken of, whose class would be used, is gone.",
    fix: "name a StorageClass of the snapshot's driver with --storage-class",
  },
  "SNAP-875": {
    title: "The owner of the snapshot has not granted the restore",
    why: "A claim of another namespace may use a snapshot only if a ReferenceGrant in the snapshot's namespace says so.",
    fix: "have the owner of the snapshot apply the ReferenceGrant below, or create it with --create-grant if you may",
  },
  "SNAP-876": {
    title: "The restored claim is too small for the snapshot",
    why: "The driver restores the whole snapshot, so the volume must have at least its restore size.",
    fix: (size = "at least the restore size of the snapshot") => `ask for ${size} or more with --size`,
  },
  "SNAP-877": {
    title: "The size of the restored claim is not known",
    why: "The driver did not report the size of the snapshot, and the claim that it was taken of is gone.",
    fix: "give the size with --size, at least that of the volume that the snapshot was taken of",
  },
  "SNAP-878": {
    title: "The API server drops the namespace of the data source",
    why: "Without the feature gate CrossNamespaceVolumeDataSource a claim that names a snapshot of another namespace is stored without that namespace, and would wait for a snapshot of its own.",
    fix: "turn the feature gate CrossNamespaceVolumeDataSource on in kube-apiserver, or use a VolumeSnapshotLink: docs/guides/cross-namespace.md",
  },
  "SNAP-879": {
    title: "A group cannot be restored",
    why: "A claim is created for every member of the group, or none. The message says what stands in the way.",
    fix: "wait until the group is ready, or restore single members by their names",
  },
} as const satisfies Record<string, ErrorRow>;
