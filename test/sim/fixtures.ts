/** What stands in a simulated cluster before the user begins: complete objects, as the server would have stored them. */
import { annotations, parameters } from "../../src/api/names.ts";
import type { Draft } from "../../src/api/types.ts";
import type { ApiObject } from "../../src/apiserver/index.ts";
import { driver } from "./backend.ts";
import { canary } from "./cluster.ts";

const group = "snapshot.storage.k8s.io/v1";
export const foreignDriver = "tape.example.com";

interface ClassOptions {
  readonly policy?: "Delete" | "Retain";
  readonly isDefault?: boolean;
  readonly of?: string;
  readonly withSecret?: boolean;
}

export const aClass = (
  name: string,
  { policy = "Delete", isDefault = false, of = driver, withSecret = false }: ClassOptions = {},
): ApiObject => ({
  apiVersion: group,
  kind: "VolumeSnapshotClass",
  metadata: { name, ...(isDefault ? { annotations: { [annotations.defaultClass]: "true" } } : {}) },
  driver: of,
  deletionPolicy: policy,
  ...(withSecret
    ? {
        parameters: {
          [parameters.snapshotterSecretName]: "login",
          [parameters.snapshotterSecretNamespace]: "default",
        },
      }
    : {}),
});

export const aSecret = (): ApiObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name: "login" },
  type: "Opaque",
  data: { password: Buffer.from(canary).toString("base64") },
});

export const aNamespace = (name: string): ApiObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
});

/** A claim bound to a volume of the driver. Where the server's own controllers run, both have to name the uid. */
export function aBoundClaim(
  name: string,
  { namespace = "default", of = driver, uid }: { namespace?: string; of?: string; uid?: string } = {},
): readonly ApiObject[] {
  const identity = uid === undefined ? {} : { uid };
  const capacity = { storage: "1Gi" };
  const volume = `pv-${name}`;
  return [
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: volume, finalizers: ["kubernetes.io/pv-protection"] },
      spec: {
        capacity,
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        volumeMode: "Filesystem",
        csi: { driver: of, volumeHandle: `vol-${name}` },
        claimRef: { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace, name, ...identity },
      },
      status: { phase: "Bound" },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        namespace,
        name,
        ...identity,
        finalizers: ["kubernetes.io/pvc-protection"],
        annotations: { "pv.kubernetes.io/bind-completed": "yes" },
      },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "",
        volumeMode: "Filesystem",
        volumeName: volume,
        resources: { requests: capacity },
      },
      status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity },
    },
  ];
}

interface SnapshotOptions {
  readonly claim?: string;
  /** Empty: the default class. */
  readonly className?: string;
  readonly namespace?: string;
}

export const aSnapshot = (
  name: string,
  { claim = "data", className = "delete", namespace = "default" }: SnapshotOptions = {},
): Draft =>
  ({
    apiVersion: group,
    kind: "VolumeSnapshot",
    metadata: { namespace, name },
    spec: {
      source: { persistentVolumeClaimName: claim },
      ...(className === "" ? {} : { volumeSnapshotClassName: className }),
    },
  }) as unknown as Draft;

export const aSnapshotOfContent = (name: string, content: string): Draft =>
  ({
    apiVersion: group,
    kind: "VolumeSnapshot",
    metadata: { namespace: "default", name },
    spec: { source: { volumeSnapshotContentName: content }, volumeSnapshotClassName: "delete" },
  }) as unknown as Draft;

export const aContent = (
  name: string,
  handle: string,
  { snapshot = "monday", of = driver, policy = "Delete" } = {},
): Draft =>
  ({
    apiVersion: group,
    kind: "VolumeSnapshotContent",
    metadata: { name },
    spec: {
      driver: of,
      deletionPolicy: policy,
      source: { snapshotHandle: handle },
      volumeSnapshotClassName: "delete",
      volumeSnapshotRef: { namespace: "default", name: snapshot },
    },
  }) as unknown as Draft;

/** A claim that waits for a volume made from a snapshot of the default namespace. */
export const aRestoringClaim = (name: string, snapshot: string, namespace = "default"): Draft => {
  const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot };
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace, name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "disk",
      resources: { requests: { storage: "1Gi" } },
      ...(namespace === "default" ? { dataSource: source } : { dataSourceRef: { ...source, namespace: "default" } }),
    },
  } as unknown as Draft;
};

/** Lets claims of the other namespace refer to the snapshots of the default one. */
export const aGrant = (name: string, namespace: string): Draft =>
  ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "ReferenceGrant",
    metadata: { namespace: "default", name },
    spec: {
      from: [{ group: "", kind: "PersistentVolumeClaim", namespace }],
      to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot" }],
    },
  }) as unknown as Draft;
