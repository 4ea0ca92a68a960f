/**
 * The kind table. Routes, discovery, RBAC, the client, the embedded API server and the reference docs read these rows;
 * a new kind is a row here and a type in types.ts.
 */
export interface Kind {
  readonly group: string;
  /** Preferred first; the client falls back to the next by discovery. */
  readonly versions: readonly [string, ...string[]];
  readonly plural: string;
  readonly singular: string;
  readonly scope: "namespace" | "cluster";
  readonly shortNames?: readonly string[];
  /** Has a /status subresource, written apart from the rest. */
  readonly status?: true;
  /** Comes from one of our CustomResourceDefinitions, not from Kubernetes itself. */
  readonly custom?: true;
}

const snapshotGroup = { group: "snapshot.storage.k8s.io", versions: ["v1", "v1beta1"], custom: true } as const;
const groupSnapshotGroup = {
  group: "groupsnapshot.storage.k8s.io",
  versions: ["v1", "v1beta2", "v1beta1"],
  custom: true,
} as const;
const sharedResourceGroup = {
  group: "sharedresource.openshift.io",
  versions: ["v1alpha1"],
  scope: "cluster",
  status: true,
  custom: true,
} as const;
const core = { group: "", versions: ["v1"] } as const;
const admission = { group: "admissionregistration.k8s.io", versions: ["v1"] } as const;
const storage = { group: "storage.k8s.io", versions: ["v1"] } as const;
const rbac = { group: "rbac.authorization.k8s.io", versions: ["v1"] } as const;

const kinds = {
  VolumeSnapshot: {
    ...snapshotGroup,
    plural: "volumesnapshots",
    singular: "volumesnapshot",
    scope: "namespace",
    shortNames: ["vs"],
    status: true,
  },
  VolumeSnapshotContent: {
    ...snapshotGroup,
    plural: "volumesnapshotcontents",
    singular: "volumesnapshotcontent",
    scope: "cluster",
    shortNames: ["vsc", "vscs"],
    status: true,
  },
  VolumeSnapshotClass: {
    ...snapshotGroup,
    plural: "volumesnapshotclasses",
    singular: "volumesnapshotclass",
    scope: "cluster",
    shortNames: ["vsclass", "vsclasses"],
  },
  VolumeSnapshotLink: {
    group: snapshotGroup.group,
    versions: ["v1alpha1"],
    plural: "volumesnapshotlinks",
    singular: "volumesnapshotlink",
    scope: "namespace",
    shortNames: ["vslink"],
    custom: true,
  },
  VolumeGroupSnapshot: {
    ...groupSnapshotGroup,
    plural: "volumegroupsnapshots",
    singular: "volumegroupsnapshot",
    scope: "namespace",
    shortNames: ["vgs"],
    status: true,
  },
  VolumeGroupSnapshotContent: {
    ...groupSnapshotGroup,
    plural: "volumegroupsnapshotcontents",
    singular: "volumegroupsnapshotcontent",
    scope: "cluster",
    shortNames: ["vgsc", "vgscs"],
    status: true,
  },
  VolumeGroupSnapshotClass: {
    ...groupSnapshotGroup,
    plural: "volumegroupsnapshotclasses",
    singular: "volumegroupsnapshotclass",
    scope: "cluster",
    shortNames: ["vgsclass", "vgsclasses"],
  },
  ReferenceGrant: {
    group: "gateway.networking.k8s.io",
    versions: ["v1", "v1beta1", "v1alpha2"],
    plural: "referencegrants",
    singular: "referencegrant",
    scope: "namespace",
    shortNames: ["refgrant"],
    custom: true,
  },
  VolumePopulator: {
    group: "populator.storage.k8s.io",
    versions: ["v1beta1"],
    plural: "volumepopulators",
    singular: "volumepopulator",
    scope: "cluster",
    custom: true,
  },
  SharedSecret: { ...sharedResourceGroup, plural: "sharedsecrets", singular: "sharedsecret" },
  SharedConfigMap: { ...sharedResourceGroup, plural: "sharedconfigmaps", singular: "sharedconfigmap" },
  PersistentVolumeClaim: {
    ...core,
    plural: "persistentvolumeclaims",
    singular: "persistentvolumeclaim",
    scope: "namespace",
    shortNames: ["pvc"],
    status: true,
  },
  PersistentVolume: {
    ...core,
    plural: "persistentvolumes",
    singular: "persistentvolume",
    scope: "cluster",
    shortNames: ["pv"],
    status: true,
  },
  Namespace: {
    ...core,
    plural: "namespaces",
    singular: "namespace",
    scope: "cluster",
    shortNames: ["ns"],
    status: true,
  },
  Node: { ...core, plural: "nodes", singular: "node", scope: "cluster", shortNames: ["no"], status: true },
  Pod: { ...core, plural: "pods", singular: "pod", scope: "namespace", shortNames: ["po"], status: true },
  Secret: { ...core, plural: "secrets", singular: "secret", scope: "namespace" },
  ConfigMap: { ...core, plural: "configmaps", singular: "configmap", scope: "namespace", shortNames: ["cm"] },
  ServiceAccount: {
    ...core,
    plural: "serviceaccounts",
    singular: "serviceaccount",
    scope: "namespace",
    shortNames: ["sa"],
  },
  Event: { ...core, plural: "events", singular: "event", scope: "namespace", shortNames: ["ev"] },
  Lease: { group: "coordination.k8s.io", versions: ["v1"], plural: "leases", singular: "lease", scope: "namespace" },
  StorageClass: {
    ...storage,
    plural: "storageclasses",
    singular: "storageclass",
    scope: "cluster",
    shortNames: ["sc"],
  },
  CSIDriver: { ...storage, plural: "csidrivers", singular: "csidriver", scope: "cluster" },
  CSINode: { ...storage, plural: "csinodes", singular: "csinode", scope: "cluster" },
  VolumeAttachment: {
    ...storage,
    plural: "volumeattachments",
    singular: "volumeattachment",
    scope: "cluster",
    status: true,
  },
  CSIStorageCapacity: {
    ...storage,
    plural: "csistoragecapacities",
    singular: "csistoragecapacity",
    scope: "namespace",
  },
  ValidatingWebhookConfiguration: {
    ...admission,
    plural: "validatingwebhookconfigurations",
    singular: "validatingwebhookconfiguration",
    scope: "cluster",
  },
  MutatingWebhookConfiguration: {
    ...admission,
    plural: "mutatingwebhookconfigurations",
    singular: "mutatingwebhookconfiguration",
    scope: "cluster",
  },
  Role: { ...rbac, plural: "roles", singular: "role", scope: "namespace" },
  RoleBinding: { ...rbac, plural: "rolebindings", singular: "rolebinding", scope: "namespace" },
  ClusterRole: { ...rbac, plural: "clusterroles", singular: "clusterrole", scope: "cluster" },
  ClusterRoleBinding: {
    ...rbac,
    plural: "clusterrolebindings",
    singular: "clusterrolebinding",
    scope: "cluster",
  },
  CustomResourceDefinition: {
    group: "apiextensions.k8s.io",
    versions: ["v1"],
    plural: "customresourcedefinitions",
    singular: "customresourcedefinition",
    scope: "cluster",
    shortNames: ["crd", "crds"],
    status: true,
  },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** The table with its rows seen as plain `Kind`s, for code that loops over it. */
export const kindRows: Readonly<Record<KindName, Kind>> = kinds;

export const apiVersionOf = (kind: KindName, version: string = kindRows[kind].versions[0]): string => {
  const { group } = kindRows[kind];
  return group === "" ? version : `${group}/${version}`;
};

/** "/apis/snapshot.storage.k8s.io/v1/namespaces/team/volumesnapshots[/name[/status]]" */
export function pathOf(
  kind: KindName,
  at: {
    namespace?: string | undefined;
    name?: string | undefined;
    version?: string | undefined;
    subresource?: string | undefined;
  },
): string {
  const { group, versions, plural, scope } = kindRows[kind];
  const version = at.version ?? versions[0];
  let path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  if (scope === "namespace" && at.namespace !== undefined) path += `/namespaces/${encodeURIComponent(at.namespace)}`;
  path += `/${plural}`;
  if (at.name !== undefined) path += `/${encodeURIComponent(at.name)}`;
  return at.subresource === undefined ? path : `${path}/${at.subresource}`;
}
