/** What keeps `snapkeep verify` from the end of its round: SNAP-85x and SNAP-86x. */
import type { ErrorRow } from "./row.ts";

export const verifyErrorRows = {
  "SNAP-851": {
    title: "There is no StorageClass to verify with",
    why: "The claim of the round needs a class that makes volumes. Without --storage-class the default one is taken.",
    fix: "name a StorageClass with --storage-class, or make one the default by the annotation storageclass.kubernetes.io/is-default-class",
  },
  "SNAP-852": {
    title: "There is no VolumeSnapshotClass to verify with",
    why: "A snapshot is taken by a class of the driver that has made the volume. Without --class the driver's default one is taken, or its only one.",
    fix: (driver = "the driver") => `create a VolumeSnapshotClass of ${driver}, or name one with --class`,
  },
  "SNAP-853": {
    title: "The StorageClass makes no volumes",
    why: "Its volumes are made by hand, not by a CSI driver, and only CSI drivers take snapshots.",
    fix: "name a StorageClass of a CSI driver with --storage-class",
  },
  "SNAP-854": {
    title: "The two classes are of different drivers",
    why: "A driver takes snapshots of its own volumes only.",
    fix: "name a StorageClass and a VolumeSnapshotClass of one driver",
  },
  "SNAP-855": {
    title: "The StorageClass waits for a pod",
    why: "With volumeBindingMode WaitForFirstConsumer a volume is made when a pod that uses the claim is scheduled, and --no-pods creates no pod.",
    fix: "leave --no-pods out, or name a StorageClass with volumeBindingMode Immediate",
  },
  "SNAP-856": {
    title: "The cluster does not admit the pod",
    why: "Pod Security Admission, a quota or another policy refuses it. The pod keeps to the restricted Pod Security Standard, unless --as-root is given.",
    fix: "change what the message names, or verify without pods by --no-pods",
  },
  "SNAP-857": {
    title: "The image of the pod cannot be pulled",
    why: "The node has no way to the registry, or the image does not exist there.",
    fix: "name an image that the nodes can pull and that has a shell with --image, or verify without pods by --no-pods",
  },
  "SNAP-858": {
    title: "The pod has failed",
    why: "It could not write to its volume or read from it. A driver that does not apply fsGroup makes volumes that only root may write to.",
    fix: "correct what the pod says; --as-root helps if only root may write",
  },
  "SNAP-859": {
    title: "The restored volume does not have what was written",
    why: "The driver reported the snapshot and the restored volume as ready, and the data is not there: nobody can rely on its snapshots.",
    fix: "run the command again with --keep, and show claim, snapshot and volumes to the maker of the driver",
  },
  "SNAP-861": {
    title: "A step did not end in time",
    why: "Whoever has to act has not: a controller, the driver, the scheduler or the kubelet. snapkeep explain says who.",
    fix: (explanation = "") =>
      `${explanation === "" ? "see to what it waits for" : "do what the explanation below says"}, or wait longer with --timeout`,
  },
  "SNAP-862": {
    title: "Not everything could be removed",
    why: "What is left holds storage. A finalizer is kept until the driver has confirmed the deletion.",
    fix: "look at the events of what the message names; the next snapkeep verify tries to remove it again",
  },
  "SNAP-863": {
    title: "The snapshot CRDs are not installed",
    why: "The API server does not know VolumeSnapshots.",
    fix: "install the CRDs and a snapshot-controller: snapkeep install --apply",
  },
} as const satisfies Record<string, ErrorRow>;
