/** Errors in one object as it is written: SNAP-1xx and SNAP-4xx. */
import { annotations } from "../api/names.ts";
import type { ErrorRow } from "./row.ts";

const nameASupportedSource =
  "name a PersistentVolumeClaim, or a VolumeSnapshot of the group snapshot.storage.k8s.io, or remove the source for an empty volume";

const writeGroup = (group = "the group alone, for example snapshot.storage.k8s.io"): string => `write ${group}`;

export const objectErrorRows = {
  "SNAP-101": {
    title: "A VolumeSnapshot does not name exactly one source",
    why: "A snapshot is taken of a claim, or stands for a snapshot that exists. Without a source, or with two, nobody can tell which is meant.",
    fix: "set either spec.source.persistentVolumeClaimName or spec.source.volumeSnapshotContentName",
    more: "An empty name counts as none.",
  },
  "SNAP-102": {
    title: "The source of a VolumeSnapshot was changed",
    why: "The data of a snapshot is that of one moment of one volume. With another source the same object would promise other data.",
    fix: "delete the VolumeSnapshot and create one with the right source",
  },
  "SNAP-103": {
    title: "The class name of a VolumeSnapshot is empty",
    why: "An absent class name means the default class. An empty one is neither a class nor the default.",
    fix: (field = "spec.volumeSnapshotClassName") => `remove ${field} to use the default class, or name a class`,
  },
  "SNAP-104": {
    title: "Beside its source, an object has an empty one",
    why: "An empty name or handle is no source, but for the strict CRDs it is set, and they refuse an object with two sources.",
    fix: (field = "the field that is empty from spec.source") => `remove ${field}`,
  },
  "SNAP-111": {
    title: "A VolumeSnapshotContent does not have exactly one source",
    why: "A content is made from a volume, or stands for a snapshot that exists on the storage system.",
    fix: "set either spec.source.volumeHandle or spec.source.snapshotHandle",
    more: "An empty handle counts as none.",
  },
  "SNAP-112": {
    title: "The source of a VolumeSnapshotContent was changed",
    why: "The handle says which data the content stands for. Deleting a content with another handle would delete other data.",
    fix: "delete the VolumeSnapshotContent and create one with the right handle",
  },
  "SNAP-113": {
    title: "A VolumeSnapshotContent does not name its VolumeSnapshot",
    why: "A content is bound by name and namespace. Without both it can belong to any snapshot.",
    fix: "name the VolumeSnapshot that the content belongs to, even if it does not exist yet",
    more: "Set both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace.",
  },
  "SNAP-114": {
    title: "The VolumeSnapshot of a bound VolumeSnapshotContent was changed",
    why: "Once spec.volumeSnapshotRef.uid is set, the content belongs to that one VolumeSnapshot. Another reference would hand its data to somebody else.",
    fix: "create another content for the other VolumeSnapshot",
    more: "Give it the same snapshotHandle.",
  },
  "SNAP-115": {
    title: "The volume mode of a VolumeSnapshotContent was changed",
    why: "A restore with another volume mode than that of the source can damage a node's kernel.",
    fix: (field = "spec.sourceVolumeMode") => `set ${field} back`,
    more: 'To allow one restore with another mode, annotate the content with snapshot.storage.kubernetes.io/allow-volume-mode-change: "true".',
  },
  "SNAP-116": {
    title: "The deletion policy is neither Delete nor Retain",
    why: "The policy decides whether data is deleted. It is never guessed.",
    fix: "set deletionPolicy to Delete or to Retain",
  },
  "SNAP-117": {
    title: "No driver is named",
    why: "Without the name of the CSI driver nobody serves the object.",
    fix: (field = "driver", driver = "the CSI driver, as it answers GetPluginInfo") =>
      `set ${field} to the name of ${driver}`,
  },
  "SNAP-121": {
    title: "A driver would have two default VolumeSnapshotClasses",
    why: "With two defaults, a VolumeSnapshot without a class name has none.",
    fix: (place = `${annotations.defaultClass}: "true" from the other class`) => `remove the annotation ${place} first`,
  },
  "SNAP-122": {
    title: "A class for backups deletes its data",
    why: "Backup tools delete the VolumeSnapshot after a backup. With the policy Delete, the snapshot on the storage system goes with it.",
    fix: (policy = "deletionPolicy to Retain in the class that is labelled for backups") => `set ${policy}`,
  },
  "SNAP-123": {
    title: "Other default VolumeSnapshotClasses are not known yet",
    why: "The webhook compares a default class with those that the API server has, and has not read them yet. The request is allowed.",
    fix: "look whether another class of the driver is annotated as default: kubectl get volumesnapshotclass",
    more: "If the warning stays, let the webhook's service account list VolumeSnapshotClasses.",
  },
  "SNAP-131": {
    title: "A claim names a core object that cannot be a data source",
    why: "Kubernetes stores such a claim without its source, and the user gets an empty volume.",
    fix: nameASupportedSource,
  },
  "SNAP-132": {
    title: "A claim names a custom data source on a cluster that supports none",
    why: "Without the feature gate AnyVolumeDataSource the source is dropped, and the user gets an empty volume.",
    fix: nameASupportedSource,
    more: "Or turn the gate AnyVolumeDataSource on.",
  },
  "SNAP-133": {
    title: "The data source of a claim has no kind or no name",
    why: "Kubernetes drops a data source without a kind, and the user gets an empty volume.",
    fix: nameASupportedSource,
  },
  "SNAP-134": {
    title: "The data source of a claim is in another namespace, which this cluster does not support",
    why: "Without the feature gate CrossNamespaceVolumeDataSource the API server drops the source, and the user gets an empty volume.",
    fix: (gate = "the gate CrossNamespaceVolumeDataSource") => `remove the namespace, or ask for ${gate}`,
    more: "Without a namespace, a source is one of the claim's own namespace.",
  },
  "SNAP-135": {
    title: "The API group of a data source holds a version",
    why: "A data source is named by its group, without a version. Kubernetes knows no kind of such a group, and drops the source.",
    fix: writeGroup,
  },
  "SNAP-136": {
    title: "A claim is smaller than the snapshot that it restores",
    why: "A volume cannot hold more than its size; the provisioner refuses the claim.",
    fix: (size = "the restoreSize that the VolumeSnapshot shows in its status") => `request at least ${size}`,
  },
  "SNAP-137": {
    title: "A claim has a data source in a field that does not exist",
    why: "The API server refuses such a field, or drops it with a warning, and the user gets an empty volume.",
    fix: (field = "the source in spec.dataSourceRef, or in spec.dataSource") => `write ${field}`,
  },
  "SNAP-138": {
    title: "The API server has dropped the data source of a stored claim",
    why: "The claim was written with a source that Kubernetes does not support. Kubernetes stored it without the source, and its volume was created empty. With the webhook, writing the same claim again is refused.",
    fix: "name a supported source in the manifest, or remove it",
    more: "The stored claim needs no change.",
  },
  "SNAP-141": {
    title: "A rule of a webhook configuration matches nothing",
    why: "The API server refuses a rule without operations, groups, versions or resources. It accepts a name that no resource has, and never calls the webhook.",
    fix: "list operations, apiGroups, apiVersions and resources; resources by their plural",
    more: 'The core group is "".',
  },
  "SNAP-142": {
    title: "A webhook configuration for snapshots does not list v1",
    why: "Today's CRDs serve v1 only. A rule for v1beta1 alone matches no request there, and nothing is checked.",
    fix: 'write apiVersions: ["v1", "v1beta1"]',
  },
  "SNAP-143": {
    title: "The caBundle of a webhook configuration is not base64",
    why: "The API server refuses the configuration.",
    fix: "encode the certificate authority, or leave caBundle out and run snapkeep certs --apply",
    more: "To encode it, run base64 -w0 ca.crt for example.",
  },
  "SNAP-151": {
    title: "A volume of the shared-resource driver is not read-only",
    why: "Shared Secrets and ConfigMaps are read-only; the driver and its webhook refuse the pod.",
    fix: (value = "csi.readOnly: true on the volume") => `set ${value}`,
    more: "The readOnly of a volumeMount does not count.",
  },
  "SNAP-152": {
    title: "The name of a share begins with a reserved prefix",
    why: "Names that begin with openshift- belong to the platform; only the shares that it lists may have them.",
    fix: "choose another name",
    more: "A component of the platform that brings a share adds its name and reference to the ConfigMap ocp-sharedsecret-list or ocp-sharedconfigmap-list, and restarts webhook, controller and driver.",
  },
  "SNAP-153": {
    title: "An entry of an allow-list of shares cannot be read",
    why: "The entry allows nothing, so the share that it was written for is refused.",
    fix: 'write the name of the share as key and "namespace:name" of its Secret or ConfigMap as value',
    more: "A key that ends in .severity has the value info, warning or critical, and stands beside the entry of its share.",
  },
  "SNAP-161": {
    title: "Somebody else writes the Lease of stored CreateVolume calls",
    why: "The csi-provisioner believes what stands there about volumes that it may have created. A policy lets only service accounts of the Lease's namespace, the control plane and administrators of the group system:masters write it.",
    fix: "write it as the driver's service account, or remove the policy stored-calls.storage.snapkeep.dev first",
  },
  "SNAP-162": {
    title: "Somebody else marks a VolumeSnapshot as lost",
    why: "The snapshot-controller shows a snapshot with this annotation as lost for good.",
    fix: "leave the annotation to the snapshot-controller",
  },
  "SNAP-163": {
    title: "The account of a provisioner creates a PersistentVolume that is not its driver's",
    why: "The csi-provisioner creates volumes of its own driver only. Whoever has stolen its token could otherwise make a volume of a node's files.",
    fix: "create other PersistentVolumes as another account",
  },
  "SNAP-191": {
    title: "A field has a value of the wrong type",
    why: "Only text can be a name or a handle.",
    fix: (value = "the value as text,") => `write ${value} in quotes`,
  },
  "SNAP-192": {
    title: "A file is neither YAML nor JSON, or cannot be read",
    why: "Nothing in such a file can be judged. Templates must be rendered first. Pipes, devices and files that are too large are not read.",
    fix: "correct the line that is named, or pass the output of helm template or kubectl kustomize on standard input, with -",
  },
  "SNAP-193": {
    title: "A kind or a version does not exist",
    why: "The API server refuses such an object: it has no kind of that name in that group and version.",
    fix: "write kind and apiVersion as docs/reference/kinds.md lists them, for example snapshot.storage.k8s.io/v1 and VolumeSnapshot",
  },
  "SNAP-194": {
    title: "A field does not exist",
    why: "A request of kubectl with such a field is refused. Other clients have it dropped in silence, and what it was to say is not done.",
    fix: "correct or remove it",
    more: "Its spelling may be wrong, or its place. The command kubectl explain lists the fields of a kind.",
  },
  "SNAP-195": {
    title: "The CRD refuses the object",
    why: "The schema of the strictest CRDs of this release does not allow the value, so the object can be neither created nor changed there.",
    fix: "correct the field that is named",
  },
  "SNAP-196": {
    title: "The metadata of an object is illegal",
    why: "Kubernetes has rules for names, labels, annotations, finalizers and owners of every kind, and refuses what breaks them.",
    fix: "correct the field that is named: a name has lower-case letters, digits, - and . only, and at most 253 characters",
  },
  "SNAP-401": {
    title: "The group of a ReferenceGrant holds a version",
    why: "Groups are compared without a version, so the grant allows nothing.",
    fix: writeGroup,
  },
  "SNAP-402": {
    title: "An entry of a ReferenceGrant has no group",
    why: "The group is required; claims are of the core group, which is written as the empty text.",
    fix: (group = '"" for PersistentVolumeClaim, or group: snapshot.storage.k8s.io for VolumeSnapshot') =>
      `write group: ${group}`,
  },
  "SNAP-403": {
    title: "An entry of a ReferenceGrant names a resource instead of a kind",
    why: "Kinds are compared exactly, so the grant allows nothing.",
    fix: (kind = "PersistentVolumeClaim or VolumeSnapshot") => `write ${kind}`,
  },
} as const satisfies Record<string, ErrorRow>;
