/** What `snapkeep gather` collects. No row names a resource whose data is secret: of Secrets only the names are read. */
import { type KindName, kindRows, pathOf } from "../../api/kinds.ts";

/** A list to read, and the file it goes to. */
export interface Collected {
  /** Below the folder of the bundle, without its ending. */
  readonly file: string;
  readonly path: string;
  /** The same list of one namespace, for whoever may not read all of them; absent: the objects are in none. */
  pathIn?(namespace: string): string;
  /** The kind chooses the fields that are kept: the entries of a list do not say it. */
  readonly kind: string;
}

const ofKind = (kind: KindName): Collected => ({
  file: `objects/${kindRows[kind].plural}`,
  path: pathOf(kind, {}),
  ...(kindRows[kind].scope === "namespace" ? { pathIn: (namespace: string) => pathOf(kind, { namespace }) } : {}),
  kind,
});

/** Where the components are found. */
export const allPods: Collected = { ...ofKind("Pod"), file: "pods of all namespaces" };

const kinds: readonly KindName[] = [
  "VolumeSnapshot",
  "VolumeSnapshotContent",
  "VolumeSnapshotClass",
  "VolumeSnapshotLink",
  "VolumeGroupSnapshot",
  "VolumeGroupSnapshotContent",
  "VolumeGroupSnapshotClass",
  "ReferenceGrant",
  "SharedSecret",
  "SharedConfigMap",
  "PersistentVolumeClaim",
  "PersistentVolume",
  "StorageClass",
  "CSIDriver",
  "CSINode",
  "VolumeAttachment",
  "CSIStorageCapacity",
  "Node",
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "Lease",
];

/** These lists are read for the whole cluster. */
export const clusterLists: readonly Collected[] = [
  ...kinds.map(ofKind),
  // Their labels say which of them the webhook for shares leaves out.
  ofKind("Namespace"),
  // Events about objects that are in no namespace.
  { file: "namespaces/default/events", path: pathOf("Event", { namespace: "default" }), kind: "Event" },
  {
    file: "objects/volumeattributesclasses",
    path: "/apis/storage.k8s.io/v1/volumeattributesclasses",
    kind: "VolumeAttributesClass",
  },
];

/** Objects of kinds of which a cluster has many large ones: only these are read, into one list. */
export const namedObjects: readonly Collected[] = [
  "volumesnapshots.snapshot.storage.k8s.io",
  "volumesnapshotcontents.snapshot.storage.k8s.io",
  "volumesnapshotclasses.snapshot.storage.k8s.io",
  "volumegroupsnapshots.groupsnapshot.storage.k8s.io",
  "volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io",
  "volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io",
].map((name) => ({
  file: "objects/customresourcedefinitions",
  path: pathOf("CustomResourceDefinition", { name }),
  kind: "CustomResourceDefinition",
}));

/** Resource → kind. */
const workloads = { deployments: "Deployment", replicasets: "ReplicaSet", daemonsets: "DaemonSet" };
const core = { pods: "Pod", services: "Service", serviceaccounts: "ServiceAccount", events: "Event" };
const rights = { roles: "Role", rolebindings: "RoleBinding" };

/** These lists are read in each namespace in which a component runs. */
export const namespaceLists = (namespace: string): readonly Collected[] => {
  const lists = (api: string, kindOf: Readonly<Record<string, string>>): readonly Collected[] =>
    Object.entries(kindOf).map(([resource, kind]) => ({
      file: `namespaces/${namespace}/${resource}`,
      path: `${api}/namespaces/${encodeURIComponent(namespace)}/${resource}`,
      kind,
    }));
  return [
    ...lists("/apis/apps/v1", workloads),
    ...lists("/api/v1", core),
    ...lists("/apis/discovery.k8s.io/v1", { endpointslices: "EndpointSlice" }),
    ...lists("/apis/rbac.authorization.k8s.io/v1", rights),
  ];
};

/** The only ConfigMaps that are read: they hold settings of the components. */
export const settingConfigMaps = [
  "ocp-sharedsecret-list",
  "ocp-sharedconfigmap-list",
  "csi-driver-shared-resource-config",
] as const;
