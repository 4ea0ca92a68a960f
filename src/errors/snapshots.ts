/** What keeps a VolumeSnapshot from being taken, bound or deleted, and how far it is: SNAP-2xx. */
import { annotations } from "../api/names.ts";
import { type ErrorRow, keepTheData } from "./row.ts";

const letController = (right: string): string =>
  `let the snapshot-controller ${right}, and correct the admission rule that the message names`;
const defaultClassIsUsed = "A VolumeSnapshot without a class name uses the default class of the volume's driver";

export const snapshotErrorRows = {
  "SNAP-201": {
    title: "The content of a VolumeSnapshot is lost",
    why: "The VolumeSnapshotContent was removed although the VolumeSnapshot still needs it. A new snapshot would hold other data under the same name, so none is taken.",
    fix: (snapshot = "the VolumeSnapshot") => `delete ${snapshot} and take a new one`,
    more: "If the snapshot still exists on the storage system, import it by a VolumeSnapshotContent with its snapshotHandle.",
  },
  "SNAP-202": {
    title: "The VolumeSnapshotContent that a VolumeSnapshot names does not exist",
    why: "A VolumeSnapshot with spec.source.volumeSnapshotContentName waits until a content of that name exists.",
    fix: (content = "the VolumeSnapshotContent") =>
      `create ${content}, or delete the VolumeSnapshot and create one that names an existing content`,
  },
  "SNAP-203": {
    title: "A VolumeSnapshotContent was made in another way than the VolumeSnapshot expects",
    why: "A VolumeSnapshot of a claim needs a content with a volumeHandle, and one that names a content needs a content with a snapshotHandle.",
    fix: "name a content of the right sort, or take the snapshot from the claim",
  },
  "SNAP-204": {
    title: "The VolumeSnapshotContent belongs to another VolumeSnapshot",
    why: "A content is bound to one VolumeSnapshot by namespace, name and uid, so that nobody gets the data of somebody else.",
    fix: "name a content of your own",
    more: "Create it with the same snapshotHandle, and with a spec.volumeSnapshotRef that names this VolumeSnapshot.",
  },
  "SNAP-211": {
    title: "The VolumeSnapshotClass that a VolumeSnapshot names does not exist",
    why: "The class says which driver takes the snapshot, and with which parameters.",
    fix: (snapshotClass = "the class") => `create ${snapshotClass}, or name another in spec.volumeSnapshotClassName`,
    more: "See kubectl get volumesnapshotclass.",
  },
  "SNAP-212": {
    title: "The driver has no default VolumeSnapshotClass",
    why: `${defaultClassIsUsed}.`,
    fix: `annotate one class with ${annotations.defaultClass}: "true", or name one in spec.volumeSnapshotClassName`,
    more: "It must be a class of that driver.",
  },
  "SNAP-213": {
    title: "The driver has several default VolumeSnapshotClasses",
    why: `${defaultClassIsUsed}, and which of several is meant is not guessed.`,
    fix: "leave one, or name one in spec.volumeSnapshotClassName",
    more: "To leave one, remove the default annotation from all other classes of the driver.",
  },
  "SNAP-214": {
    title: "The VolumeSnapshotClass is for another driver",
    why: "A driver can take snapshots of its own volumes only.",
    fix: (driver = "the driver in spec.csi.driver of the PersistentVolume") => `name a class of ${driver}`,
  },
  "SNAP-221": {
    title: "The claim of a VolumeSnapshot does not exist",
    why: "A snapshot is taken of a PersistentVolumeClaim of the VolumeSnapshot's own namespace.",
    fix: (claim = "the claim") =>
      `create ${claim}, or delete the VolumeSnapshot and create one that names an existing claim`,
  },
  "SNAP-222": {
    title: "The claim of a VolumeSnapshot is not bound to a volume",
    why: "There is no data yet to take a snapshot of.",
    fix: "wait until the claim is Bound; the snapshot is taken then",
    more: "If the claim stays Pending, kubectl describe pvc says why.",
  },
  "SNAP-223": {
    title: "The claim of a VolumeSnapshot is being deleted",
    why: "A new snapshot would keep the claim from being deleted.",
    fix: "delete the VolumeSnapshot",
    more: "Take snapshots before the claim is deleted.",
  },
  "SNAP-224": {
    title: "The volume of the claim does not exist",
    why: "The claim names a PersistentVolume that the cluster does not have.",
    fix: "bring the PersistentVolume back, or use another claim",
  },
  "SNAP-225": {
    title: "The volume belongs to another claim",
    why: "The PersistentVolume names another claim in spec.claimRef. The data may be somebody else's.",
    fix: "find out which claim the volume belongs to, and correct the claim or the volume",
  },
  "SNAP-226": {
    title: "The volume is not a CSI volume",
    why: "Snapshots are taken by CSI drivers. A PersistentVolume without spec.csi has none.",
    fix: "name a claim of a CSI driver",
  },
  "SNAP-227": {
    title: "No node reaches the volume",
    why: "Snapshots are taken by the sidecar of a node that the volume's spec.nodeAffinity allows, and there is no such node.",
    fix: "bring the node back, or correct its labels",
    more: "The snapshot is taken once a node matches.",
  },
  "SNAP-231": {
    title: "A class names a secret by half",
    why: "A secret is named by two parameters, one for its name and one for its namespace.",
    fix: (parameters = "parameters in the class") => `set both ${parameters}, or neither`,
  },
  "SNAP-232": {
    title: "The template of a secret has a token that does not exist",
    why: "The tokens that the message lists cannot be filled in. They are not replaced by an empty text, because that could name somebody else's secret.",
    fix: "correct the token in the class, for example ${volumesnapshot.namespace}",
    more: "The name of a VolumeSnapshot can be used in the secret's name, and not in its namespace.",
  },
  "SNAP-233": {
    title: "The template of a secret does not give a valid name",
    why: "With its tokens replaced, the parameter is no name that an object can have.",
    fix: "correct the class parameter, or rename the object whose name is filled in",
  },
  "SNAP-241": {
    title: "A VolumeSnapshot cannot be deleted yet, because a claim is being restored from it",
    why: "The provisioner reads from the snapshot until the claim is bound.",
    fix: "wait until the claim is bound, or delete the claim",
    more: "For a claim of another namespace the message names the ReferenceGrant that permits it: remove that grant.",
  },
  "SNAP-242": {
    title: "A VolumeSnapshot cannot be deleted yet, because its content cannot be deleted",
    why: "The driver has not deleted the snapshot on the storage system. The message holds the error; it is tried again.",
    fix: "remove the cause at the storage system",
    more: keepTheData,
  },
  "SNAP-243": {
    title: "A VolumeSnapshotContent without a driver was deleted, and a snapshot may be left at the driver",
    why: "Its spec.driver was emptied, so no csi-snapshotter takes it for its own. The object is not kept for ever.",
    fix: "look for the snapshot in the message at the storage system and delete it there",
  },
  "SNAP-251": {
    title: "The API server rejected the creation of a VolumeSnapshotContent",
    why: "The snapshot-controller may not create the object, or an admission rule refuses it.",
    fix: "compare the role of the snapshot-controller with the installed manifests, and the admission rule with the message",
    more: "The snapshot-controller tries again by itself.",
  },
  "SNAP-252": {
    title: "The API server rejected a change of the claim's finalizers",
    why: "The claim is protected by a finalizer while a snapshot is taken of it.",
    fix: letController("update PersistentVolumeClaims"),
  },
  "SNAP-253": {
    title: "The API server rejected the status of a VolumeSnapshot",
    why: "The snapshot-controller cannot write what has become of the snapshot.",
    fix: letController("patch volumesnapshots/status"),
  },
  "SNAP-254": {
    title: "The API server rejected a change of a VolumeSnapshot",
    why: "Finalizers, labels and the default class are written to the VolumeSnapshot.",
    fix: letController("patch VolumeSnapshots"),
  },
  "SNAP-255": {
    title: "The API server rejected a change of a VolumeSnapshotContent",
    why: "The content cannot be bound to the VolumeSnapshot.",
    fix: letController("patch VolumeSnapshotContents"),
  },
  "SNAP-256": {
    title: "The API server rejected the deletion of a VolumeSnapshotContent",
    why: "The VolumeSnapshot cannot be deleted before its content.",
    fix: letController("delete and patch VolumeSnapshotContents"),
  },
  "SNAP-291": {
    title: "A snapshot is being created",
    why: "Nothing is wrong: the VolumeSnapshotContent exists, and the driver is asked to take the snapshot.",
    fix: "nothing",
    more: "If this stays the last event, look at the events of the VolumeSnapshotContent.",
  },
  "SNAP-292": {
    title: "A snapshot was created",
    why: "Nothing is wrong: the data of the snapshot is that of status.creationTime. Some drivers still copy it before it can be used.",
    fix: "nothing",
    more: "An application that was paused for the snapshot can go on.",
  },
  "SNAP-293": {
    title: "A snapshot is ready to use",
    why: "Nothing is wrong: claims can be restored from the snapshot.",
    fix: "nothing",
  },
} as const satisfies Record<string, ErrorRow>;
