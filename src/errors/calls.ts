/** Errors about the calls to a CSI driver, by csi-snapshotter: SNAP-5xx. */
import { type ErrorRow, keepTheData } from "./row.ts";

const removeCause = "remove the cause at the driver or the storage system";
const classHolds = "The class holds the parameters that the driver gets.";

export const callErrorRows = {
  "SNAP-501": {
    title: "The driver did not create the snapshot",
    why: "CreateSnapshot failed; the message quotes the driver. It is tried again, with growing pauses.",
    fix: removeCause,
    more: "The driver's own log says more.",
  },
  "SNAP-502": {
    title: "The driver did not answer whether the snapshot was created",
    why: "The call ended without an answer, so the snapshot may exist. The same snapshot is asked for again, under the same name.",
    fix: "nothing, unless it stays so: then look whether the driver runs, and into its log",
    more: "A driver that needs longer needs a larger --timeout.",
  },
  "SNAP-503": {
    title: "The driver gave another handle for the same snapshot",
    why: "CreateSnapshot must answer the same for the same name. The first handle is kept.",
    fix: "report this to the maker of the driver: there may be two snapshots on the storage system",
  },
  "SNAP-504": {
    title: "The driver's reply holds an impossible value",
    why: "The value is not used; the message says what is used instead. The snapshot itself is not affected.",
    fix: "report this to the maker of the driver",
  },
  "SNAP-511": {
    title: "A VolumeSnapshotContent has no uid of its VolumeSnapshot",
    why: "The name of the snapshot at the driver is made from spec.volumeSnapshotRef.uid.",
    fix: "delete the content: it was exported and applied again, or its uid was removed",
    more: "To take a snapshot, create a VolumeSnapshot of the claim. To use a snapshot that exists, name its handle in spec.source.snapshotHandle instead of a volume.",
  },
  "SNAP-512": {
    title: "A VolumeSnapshotContent for a new snapshot names no class",
    why: classHolds,
    fix: "set spec.volumeSnapshotClassName of the VolumeSnapshotContent",
  },
  "SNAP-513": {
    title: "The class of a VolumeSnapshotContent does not exist",
    why: classHolds,
    fix: "create the VolumeSnapshotClass again",
    more: "The snapshot is taken then.",
  },
  "SNAP-514": {
    title: "A class parameter has a reserved prefix and is not known",
    why: "Parameters that begin with csi.storage.k8s.io/ are not for the driver. An unknown one is usually misspelt.",
    fix: "remove or correct the parameter in the VolumeSnapshotClass",
  },
  "SNAP-515": {
    title: "The annotations of a VolumeSnapshotContent name a secret by half",
    why: "Two annotations name the secret that the driver needs: its name and its namespace.",
    fix: "set the missing annotation, or remove the other one if the driver needs no secret",
  },
  "SNAP-516": {
    title: "The secret for the driver cannot be read",
    why: "The call is not made without the secret that the class names.",
    fix: "create the secret, or let the service account of csi-snapshotter get it",
  },
  "SNAP-521": {
    title: "The driver could not confirm a snapshot that was named by hand",
    why: "ListSnapshots failed or did not list the handle in spec.source.snapshotHandle.",
    fix: "correct the handle: delete the VolumeSnapshotContent, and create it with the handle that the storage system shows",
  },
  "SNAP-531": {
    title: "The driver did not delete the snapshot",
    why: "DeleteSnapshot failed; the message quotes the driver. It is tried again, with growing pauses.",
    fix: removeCause,
    more: keepTheData,
  },
  "SNAP-532": {
    title: "A VolumeSnapshotContent was deleted, and a snapshot may be left at the driver",
    why: "Several replies of the driver could not be read, and no other came. The object is not kept for ever.",
    fix: "look for the snapshot at the storage system and delete it there",
    more: "Report the replies to the maker of the driver.",
  },
  "SNAP-533": {
    title: "A VolumeSnapshotContent was deleted without deleting a snapshot",
    why: "Its handle was written by hand and never confirmed by the driver, so it may be that of something else.",
    fix: "if the snapshot exists and is not wanted, delete it at the storage system",
  },
  "SNAP-534": {
    title: "A snapshot is deleted with another secret than its class names",
    why: "The annotations of the VolumeSnapshotContent say which secret the driver gets. They were changed, or the class was.",
    fix: "find out who changed the annotations",
    more: "If the class was changed, nothing is wrong.",
  },
  "SNAP-535": {
    title: "A VolumeSnapshotContent without a clear source was deleted, and a snapshot may be left at the driver",
    why: "Its spec.source was changed after the snapshot had been requested, so the driver could not be asked whether it was taken.",
    fix: "look for the snapshot of the name in the message at the storage system and delete it there",
  },
} as const satisfies Record<string, ErrorRow>;
