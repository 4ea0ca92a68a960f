/**
 * Objects as they stand in the API server. Snapshot kinds are typed here; what Kubernetes itself defines comes from
 * kubernetes-types, narrowed by `Stored` to what every stored object has.
 */
import type {
  MutatingWebhookConfiguration as K8sMutatingWebhookConfiguration,
  ValidatingWebhookConfiguration as K8sValidatingWebhookConfiguration,
} from "kubernetes-types/admissionregistration/v1.js";
import type { CustomResourceDefinition as K8sCustomResourceDefinition } from "kubernetes-types/apiextensions/v1.js";
import type { Lease as K8sLease } from "kubernetes-types/coordination/v1.js";
import type {
  ConfigMap as K8sConfigMap,
  Event as K8sEvent,
  Namespace as K8sNamespace,
  Node as K8sNode,
  PersistentVolume as K8sPersistentVolume,
  PersistentVolumeClaim as K8sPersistentVolumeClaim,
  Pod as K8sPod,
  Secret as K8sSecret,
  ServiceAccount as K8sServiceAccount,
} from "kubernetes-types/core/v1.js";
import type {
  CSIDriver as K8sCSIDriver,
  CSINode as K8sCSINode,
  CSIStorageCapacity as K8sCSIStorageCapacity,
  StorageClass as K8sStorageClass,
  VolumeAttachment as K8sVolumeAttachment,
} from "kubernetes-types/storage/v1.js";
import type { Key } from "../base/brand.ts";
import { keyIn } from "../base/brand.ts";
import type { KindName } from "./kinds.ts";

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** The least any stored object has. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** What is sent to create an object: the server fills in uid, version and dates. */
export type Draft<T extends KubeObject = KubeObject> = Omit<T, "metadata"> & {
  readonly metadata: Partial<ObjectMeta> & { readonly generateName?: string };
};

type Stored<T, Name extends string> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  readonly apiVersion: string;
  readonly kind: Name;
  readonly metadata: ObjectMeta;
};

export type DeletionPolicy = "Delete" | "Retain";

export interface SnapshotError {
  readonly time?: string;
  readonly message?: string;
}

export interface VolumeSnapshot extends KubeObject {
  readonly kind: "VolumeSnapshot";
  readonly spec: {
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
    readonly volumeSnapshotClassName?: string;
  };
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string;
    /** RFC 3339. */
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    /** A quantity. */
    readonly restoreSize?: string | number;
    readonly error?: SnapshotError;
    readonly volumeGroupSnapshotName?: string;
  };
}

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

export interface VolumeSnapshotContent extends KubeObject {
  readonly kind: "VolumeSnapshotContent";
  readonly spec: {
    readonly volumeSnapshotRef: ObjectReference;
    readonly deletionPolicy: DeletionPolicy;
    readonly driver: string;
    readonly volumeSnapshotClassName?: string;
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string };
    readonly sourceVolumeMode?: string;
  };
  readonly status?: {
    readonly snapshotHandle?: string;
    /** Nanoseconds since 1970: beyond 2^53, hence BigInt. */
    readonly creationTime?: bigint | number;
    /** Bytes. */
    readonly restoreSize?: bigint | number;
    readonly readyToUse?: boolean;
    readonly error?: SnapshotError;
    readonly volumeGroupSnapshotHandle?: string;
  };
}

export interface VolumeSnapshotClass extends KubeObject {
  readonly kind: "VolumeSnapshotClass";
  readonly driver: string;
  readonly deletionPolicy: DeletionPolicy;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** As metav1.LabelSelector. */
export interface ClaimSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface VolumeGroupSnapshot extends KubeObject {
  readonly kind: "VolumeGroupSnapshot";
  readonly spec: {
    readonly source: { readonly selector?: ClaimSelector; readonly volumeGroupSnapshotContentName?: string };
    readonly volumeGroupSnapshotClassName?: string;
  };
  readonly status?: {
    readonly boundVolumeGroupSnapshotContentName?: string;
    /** RFC 3339. */
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    readonly error?: SnapshotError;
  };
}

/** One member, as the driver answered. */
export interface VolumeSnapshotInfo {
  readonly volumeHandle?: string;
  readonly snapshotHandle?: string;
  /** Nanoseconds since 1970: more than a number can hold. */
  readonly creationTime?: number | bigint;
  readonly readyToUse?: boolean;
  readonly restoreSize?: number | bigint;
}

export interface VolumeGroupSnapshotContent extends KubeObject {
  readonly kind: "VolumeGroupSnapshotContent";
  readonly spec: {
    readonly deletionPolicy: DeletionPolicy;
    readonly driver: string;
    readonly source: {
      readonly volumeHandles?: readonly string[];
      readonly groupSnapshotHandles?: {
        readonly volumeGroupSnapshotHandle?: string;
        readonly volumeSnapshotHandles?: readonly string[];
      };
    };
    readonly volumeGroupSnapshotClassName?: string;
    readonly volumeGroupSnapshotRef: ObjectReference;
  };
  readonly status?: {
    readonly volumeGroupSnapshotHandle?: string;
    /** RFC 3339, unlike that of a VolumeSnapshotContent. */
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    readonly error?: SnapshotError;
    readonly volumeSnapshotInfoList?: readonly VolumeSnapshotInfo[];
    /** What v1beta1 has instead. */
    readonly volumeSnapshotHandlePairList?: readonly Pick<VolumeSnapshotInfo, "volumeHandle" | "snapshotHandle">[];
  };
}

export interface VolumeGroupSnapshotClass extends KubeObject {
  readonly kind: "VolumeGroupSnapshotClass";
  readonly driver: string;
  readonly deletionPolicy: DeletionPolicy;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Names a VolumeSnapshot, perhaps of another namespace, for claims of its own namespace. */
export interface VolumeSnapshotLink extends KubeObject {
  readonly kind: "VolumeSnapshotLink";
  readonly spec?: { readonly source?: { readonly name?: string; readonly namespace?: string } };
}

/** The owner of a namespace allows objects of others to refer to what is in it. */
export interface ReferenceGrant extends KubeObject {
  readonly kind: "ReferenceGrant";
  readonly spec?: {
    readonly from?: readonly { readonly group?: string; readonly kind?: string; readonly namespace?: string }[];
    readonly to?: readonly { readonly group?: string; readonly kind?: string; readonly name?: string }[];
  };
}

/** As metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Where the Secret or ConfigMap of a share is. */
export interface ShareReference {
  readonly namespace: string;
  readonly name: string;
}

interface Share extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Lets pods of other namespaces mount one Secret, if their service account may `use` the share. */
export interface SharedSecret extends Share {
  readonly kind: "SharedSecret";
  readonly spec: { readonly secretRef: ShareReference; readonly description?: string };
}

/** Lets pods of other namespaces mount one ConfigMap, if their service account may `use` the share. */
export interface SharedConfigMap extends Share {
  readonly kind: "SharedConfigMap";
  readonly spec: { readonly configMapRef: ShareReference; readonly description?: string };
}

export type PersistentVolumeClaim = Stored<K8sPersistentVolumeClaim, "PersistentVolumeClaim">;
export type PersistentVolume = Stored<K8sPersistentVolume, "PersistentVolume">;
export type StorageClass = Stored<K8sStorageClass, "StorageClass">;
export type CSINode = Stored<K8sCSINode, "CSINode">;
export type CSIStorageCapacity = Stored<K8sCSIStorageCapacity, "CSIStorageCapacity">;
export type Node = Stored<K8sNode, "Node">;
export type VolumeAttachment = Stored<K8sVolumeAttachment, "VolumeAttachment">;
export type Lease = Stored<K8sLease, "Lease">;
export type Event = Stored<K8sEvent, "Event">;

/** Every kind of the table that has a type of its own; the others are plain objects. */
interface TypedObjects {
  VolumeSnapshot: VolumeSnapshot;
  VolumeSnapshotContent: VolumeSnapshotContent;
  VolumeSnapshotClass: VolumeSnapshotClass;
  VolumeSnapshotLink: VolumeSnapshotLink;
  VolumeGroupSnapshot: VolumeGroupSnapshot;
  VolumeGroupSnapshotContent: VolumeGroupSnapshotContent;
  VolumeGroupSnapshotClass: VolumeGroupSnapshotClass;
  ReferenceGrant: ReferenceGrant;
  SharedSecret: SharedSecret;
  SharedConfigMap: SharedConfigMap;
  PersistentVolumeClaim: PersistentVolumeClaim;
  PersistentVolume: PersistentVolume;
  Namespace: Stored<K8sNamespace, "Namespace">;
  Node: Stored<K8sNode, "Node">;
  Pod: Stored<K8sPod, "Pod">;
  Secret: Stored<K8sSecret, "Secret">;
  ConfigMap: Stored<K8sConfigMap, "ConfigMap">;
  ServiceAccount: Stored<K8sServiceAccount, "ServiceAccount">;
  Event: Event;
  Lease: Lease;
  StorageClass: Stored<K8sStorageClass, "StorageClass">;
  CSIDriver: Stored<K8sCSIDriver, "CSIDriver">;
  CSINode: Stored<K8sCSINode, "CSINode">;
  VolumeAttachment: Stored<K8sVolumeAttachment, "VolumeAttachment">;
  CSIStorageCapacity: CSIStorageCapacity;
  ValidatingWebhookConfiguration: Stored<K8sValidatingWebhookConfiguration, "ValidatingWebhookConfiguration">;
  MutatingWebhookConfiguration: Stored<K8sMutatingWebhookConfiguration, "MutatingWebhookConfiguration">;
  CustomResourceDefinition: Stored<K8sCustomResourceDefinition, "CustomResourceDefinition">;
}
export type ObjectOf<K extends KindName> = K extends keyof TypedObjects ? TypedObjects[K] : KubeObject;

export const keyOf = (object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): Key =>
  keyIn(object.metadata.namespace, object.metadata.name);
