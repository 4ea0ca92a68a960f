/** What the scripts are about. */
import { stringify } from "yaml";

export const yaml = (...objects: readonly object[]): string =>
  objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n");

export const snapshot = (name: string, more: object = {}) => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name, namespace: "k-team" },
  spec: { volumeSnapshotClassName: "fast", source: { persistentVolumeClaimName: "data" } },
  ...more,
});

export const claim = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace: "k-team" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "none" },
  ...more,
});

export const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "k-team" },
  data,
});

export const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "k-team" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "nginx:1" }] },
    },
  },
};

export const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "k-team", labels: { app: "p" } },
  spec: { containers: [{ name: "c", image: "box:1", command: ["sleep", "1"] }] },
};

export const owned = (name: string, owner: string, uid: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "k-team", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid }] },
});
