/** Codes of what csi-provisioner tells the users of claims and volumes: SNAP-301 to SNAP-399. */
import { annotations } from "../api/names.ts";
import type { ErrorRow } from "./row.ts";

const fromClaimsOrLinks =
  "a ReferenceGrant from PersistentVolumeClaims of the claim's namespace, or from VolumeSnapshotLinks if a link names the source, to the source";

const reportToMaker = "report this to the maker of the driver";
const correctAtDriver = "correct what the driver complains about";
const isRepeated = "The call is repeated by itself.";
const neverSomethingElse = "A claim is never filled with anything else than its source.";
const rawDevice = "A raw device read as a file system can damage a node's kernel.";

export const volumeErrorRows = {
  "SNAP-301": {
    title: "The VolumeSnapshot to restore does not exist",
    why: neverSomethingElse,
    fix: (snapshot = "the VolumeSnapshot", field = "spec.dataSource.name in a new claim") =>
      `create ${snapshot}, or correct ${field}`,
  },
  "SNAP-302": {
    title: "The VolumeSnapshot to restore is being deleted",
    why: "Its data may be gone at any moment. Only claims that came before the deletion are finished.",
    fix: "restore from another VolumeSnapshot",
  },
  "SNAP-303": {
    title: "The VolumeSnapshot to restore is not bound",
    why: "Until it is bound, nobody knows which data it stands for.",
    fix: "wait, or look at the events of the VolumeSnapshot",
  },
  "SNAP-304": {
    title: "The content of the VolumeSnapshot does not exist",
    why: "The content holds the handle by which the driver knows the snapshot.",
    fix: "restore from another VolumeSnapshot, or bring the VolumeSnapshotContent back from a backup",
  },
  "SNAP-305": {
    title: "The content of the VolumeSnapshot is bound to another VolumeSnapshot",
    why: "Snapshot and content must name each other. Otherwise anybody could read any snapshot by naming its content.",
    fix: "correct spec.volumeSnapshotRef of the content",
    more: "Or restore from the VolumeSnapshot that it names.",
  },
  "SNAP-306": {
    title: "The VolumeSnapshot belongs to another driver",
    why: "A driver can restore only its own snapshots.",
    fix: (driver = "the driver of the snapshot") => `use a StorageClass of ${driver}`,
  },
  "SNAP-307": {
    title: "The VolumeSnapshot to restore is not ready to use",
    why: "The storage system is still working on it.",
    fix: "wait, or look at status.error of the VolumeSnapshot",
    more: "The restore starts by itself.",
  },
  "SNAP-308": {
    title: "The content of the VolumeSnapshot has no handle",
    why: "Without the handle the driver does not know which snapshot is meant.",
    fix: "wait, or look at status.error of the VolumeSnapshotContent",
  },
  "SNAP-309": {
    title: "The claim has another volume mode than the source of the snapshot",
    why: rawDevice,
    fix: (mode = "the volume mode of the source", content = "the VolumeSnapshotContent") =>
      `set ${mode}, or annotate ${content} with ${annotations.allowVolumeModeChange}: "true"`,
  },
  "SNAP-321": {
    title: "The claim to clone does not exist",
    why: neverSomethingElse,
    fix: (claim = "the source claim") => `create ${claim}, or correct spec.dataSource.name in a new claim`,
  },
  "SNAP-322": {
    title: "The claim to clone is being deleted",
    why: "Its data may be gone at any moment.",
    fix: "clone another claim",
    more: "Or restore a VolumeSnapshot.",
  },
  "SNAP-323": {
    title: "The claim to clone is not bound",
    why: "Until it is bound there is no volume to clone.",
    fix: "wait, or look at the events of the source claim",
    more: "The clone starts by itself.",
  },
  "SNAP-324": {
    title: "A claim is smaller than the claim that it clones",
    why: "A volume cannot hold more than its size.",
    fix: (size = "the size of the source claim") => `request at least ${size} in a new claim`,
  },
  "SNAP-325": {
    title: "The claim to clone has no volume of the same driver",
    why: "A driver can clone only its own volumes.",
    fix: "clone a claim whose volume the same driver made",
    more: "Or use a StorageClass of the driver that made the source volume.",
  },
  "SNAP-326": {
    title: "The claim has another volume mode than the claim that it clones",
    why: rawDevice,
    fix: (mode = "the volume mode of the source claim") => `set ${mode}`,
  },
  "SNAP-331": {
    title: "The StorageClass of a claim does not exist",
    why: "The class says how volumes are made.",
    fix: "create the StorageClass, or create a claim that names an existing one",
  },
  "SNAP-332": {
    title: "A StorageClass has a parameter that cannot be used",
    why: "Parameters with the prefix csi.storage.k8s.io/ are meant for Kubernetes; a misspelt one would be ignored silently.",
    fix: "correct or remove the parameter that the message names",
  },
  "SNAP-333": {
    title: "The driver cannot do what the claim asks for",
    why: "The driver does not announce the capability.",
    fix: "use a StorageClass of a driver that has the capability",
  },
  "SNAP-334": {
    title: "A claim has a selector",
    why: "A selector chooses among existing volumes; a new volume has no labels to match.",
    fix: "remove spec.selector, or create the PersistentVolume by hand",
  },
  "SNAP-335": {
    title: "A claim requests no readable size",
    why: "The driver must be told how large the volume has to be.",
    fix: "set spec.resources.requests.storage, for example 10Gi",
  },
  "SNAP-336": {
    title: "The data source is named with its namespace, and such sources are off",
    why: "The claim is not filled with an empty volume instead.",
    fix: (gate = "the feature gate CrossNamespaceVolumeDataSource") => `turn on ${gate} of csi-provisioner`,
    more: "For a VolumeSnapshotLink, turn on --cross-namespace-snapshot. Or use a source of the claim's own namespace, without the namespace.",
  },
  "SNAP-337": {
    title: "No node fits the claim's topology",
    why: "The volume would not be accessible where the pod runs.",
    fix: "correct allowedTopologies of the StorageClass, or the node that the pod is bound to",
  },
  "SNAP-338": {
    title: "A secret cannot be read",
    why: "The driver needs it for this call.",
    fix: "create the Secret, or let the provisioner's role read it",
  },
  "SNAP-339": {
    title: "The VolumeAttributesClass of a claim cannot be used",
    why: "It does not exist, or belongs to another driver; its parameters mean something to its own driver only.",
    fix: "create it, or create a claim that names a VolumeAttributesClass of the driver of its StorageClass",
  },
  "SNAP-340": {
    title: "The StorageClass of a claim belongs to another provisioner",
    why: "The class was deleted and created again for another driver after kube-controller-manager had given the claim to this one.",
    fix: "create a claim with a StorageClass of the driver, or wait until kube-controller-manager gives the claim to the other",
  },
  "SNAP-341": {
    title: "The driver cannot create the volume",
    why: "The message quotes the driver.",
    fix: correctAtDriver,
    more: isRepeated,
  },
  "SNAP-342": {
    title: "The driver created a smaller volume than requested",
    why: "The claim would not get what it asks for. The volume is deleted.",
    fix: `${reportToMaker}, or request a size that the driver can provide`,
  },
  "SNAP-343": {
    title: "The driver did not confirm the source of the volume",
    why: "A driver that ignores the source creates an empty volume. The volume is deleted, and no PersistentVolume is created.",
    fix: "use a driver that supports restores and clones",
  },
  "SNAP-344": {
    title: "The driver's reply to CreateVolume has no usable volume",
    why: "Without a volume id, no PersistentVolume can be created and nothing can be deleted.",
    fix: reportToMaker,
    more: isRepeated,
  },
  "SNAP-345": {
    title: "The PersistentVolume cannot be stored",
    why: "The API server refuses what the driver's reply makes of it, or the role of the provisioner does not suffice.",
    fix: "look at what the API server says",
    more: "The volume is stored when it agrees, and deleted when the claim is deleted.",
  },
  "SNAP-346": {
    title: "The driver answered with a volume of another claim",
    why: "Two claims with one volume would overwrite each other's data. The volume is neither used nor deleted.",
    fix: `${reportToMaker}: volumes of different names must have different ids`,
  },
  "SNAP-347": {
    title: "The driver answered two ids for one volume",
    why: "CreateVolume must answer the same id whenever it is repeated with the same name. The earlier volume is deleted, because nobody else knows of it.",
    fix: reportToMaker,
    more: "The claim gets the later volume.",
  },
  "SNAP-348": {
    title: "A volume may be left at the driver",
    why: "The claim is gone, and the id of its volume cannot be learned: the driver's replies to CreateVolume could not be read, or it refuses to say it. The source of the volume is let go, so that it can be deleted.",
    fix: "look for the volume by its name at the storage system, delete it there, and report this to the maker of the driver",
  },
  "SNAP-349": {
    title: "A volume of a claim that is gone may have been retained, and is not deleted",
    why: "The provisioner was killed between the note that it was about to store the PersistentVolume and the removal of the stored call, or another provisioner has led since the call was stored. Nothing says whether the PersistentVolume was stored, used, retained and deleted since.",
    fix: "see at the storage system that the id is that of this volume, because whoever may update the Lease of stored calls can have written it; if nobody needs the data, delete the volume with the command of the message, or by the means of the storage",
    more: "To keep it, create a PersistentVolume with its handle.",
  },
  "SNAP-350": {
    title: "A stored CreateVolume call says otherwise than its claim",
    why: "The call was stored before a restart. Claim, StorageClass or source have changed since, or somebody else has written the Lease of stored calls. The volume is asked for as claim and class say now.",
    fix: "nothing if they were changed",
    more: "If not, find out who has written the Lease of stored calls (audit log), and let only the provisioner update it.",
  },
  "SNAP-351": {
    title: "The driver cannot delete the volume",
    why: "The message quotes the driver.",
    fix: correctAtDriver,
    more: "The call is repeated by itself; one that the driver refuses for good (INVALID_ARGUMENT, UNIMPLEMENTED, NOT_FOUND, OUT_OF_RANGE) ten times in a row is repeated when the PersistentVolume changes, for example by a label. To let the object go without its volume, set persistentVolumeReclaimPolicy to Retain and delete it.",
  },
  "SNAP-352": {
    title: "A volume is still attached",
    why: "Deleting a volume that a node uses loses data.",
    fix: "wait until the pod has stopped and the VolumeAttachment is gone",
  },
  "SNAP-361": {
    title: "No ReferenceGrant allows the source",
    why: "A source that is named with its namespace needs the consent of the owner of that namespace, also where it is the claim's own. The message is the same whether or not the source exists.",
    fix: (namespace = "the namespace", grant = fromClaimsOrLinks) => `ask the owner of ${namespace} for ${grant}`,
    more: "The restore starts as soon as it exists.",
  },
  "SNAP-362": {
    title: "ReferenceGrants cannot be read",
    why: "Without them nobody can consent to the use of a source. Other claims are served.",
    fix: (crd = "the CRD of ReferenceGrants (Gateway API)", role = "the role of csi-provisioner") =>
      `install ${crd}, and let ${role} get, list and watch referencegrants.gateway.networking.k8s.io`,
  },
  "SNAP-363": {
    title: "The VolumeSnapshotLink of a claim cannot be followed",
    why: "It does not exist, or names no VolumeSnapshot. A claim is never filled with anything else than its source.",
    fix: "create the VolumeSnapshotLink in the namespace of the claim, or create a claim that names the right one",
  },
  "SNAP-364": {
    title: "VolumeSnapshotLinks cannot be read",
    why: "Without the link nobody knows which VolumeSnapshot is meant. Other claims are served.",
    fix: "install the CRD (snapkeep crds --for cross-namespace), and let the role of csi-provisioner get, list and watch volumesnapshotlinks",
  },
  "SNAP-365": {
    title: "The VolumeSnapshotLink of a claim is named with its namespace",
    why: "A link lets the claims of its own namespace use a snapshot. Whoever could name the link of another namespace would use what was granted to others.",
    fix: "create a VolumeSnapshotLink in the namespace of the claim, and a claim that names it without a namespace",
  },
  "SNAP-391": {
    title: "A volume was provisioned",
    why: "Nothing is wrong: the PersistentVolume exists, and the claim is bound to it.",
    fix: "nothing",
  },
} as const satisfies Record<string, ErrorRow>;
