/** What `snapkeep gather` collects. No row names a resource whose data is secret: of Secrets only the names are read. */
import { type KindName, kindRows, pathOf } from "../../api/kinds.ts";

/** A list to read, and the file it goes to. */
export interface Collected {
  /** Below the folder of the bundle, without its ending. */
  readonly file: string;
  readonly path: string;
}

const ofKind = (kind: KindName): Collected => ({
  file: `objects/${kindRows[kind].plural}`,
  path: pathOf(kind, {}),
});

const kinds: readonly KindName[] = [
  "VolumeSnapshot",
  "VolumeSnapshotContent",
  "VolumeSnapshotClass",
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
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "Lease",
];

/** Of the whole cluster. */
export const clusterLists: readonly Collected[] = [
  ...kinds.map(ofKind),
  // Their labels say which of them the webhook for shares leaves out.
  ofKind("Namespace"),
];

const workloads = ["deployments", "replicasets", "daemonsets"];

/** Of each namespace in which a component runs. */
export const namespaceLists = (namespace: string): readonly Collected[] => {
  const list = (api: string, resource: string): Collected => ({
    file: `namespaces/${namespace}/${resource}`,
    path: `${api}/namespaces/${encodeURIComponent(namespace)}/${resource}`,
  });
  return [
    ...workloads.map((resource) => list("/apis/apps/v1", resource)),
    ...["pods", "services", "serviceaccounts", "events"].map((resource) => list("/api/v1", resource)),
    list("/apis/discovery.k8s.io/v1", "endpointslices"),
    ...["roles", "rolebindings"].map((resource) => list("/apis/rbac.authorization.k8s.io/v1", resource)),
  ];
};

/** The only ConfigMaps that are read: they hold settings of the components. */
export const settingConfigMaps = [
  "ocp-sharedsecret-list",
  "ocp-sharedconfigmap-list",
  "csi-driver-shared-resource-config",
] as const;
