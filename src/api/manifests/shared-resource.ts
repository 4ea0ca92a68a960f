/** The driver of shared Secrets and ConfigMaps on every node. */
import type { CSIDriver } from "kubernetes-types/storage/v1.js";
import { sharedResourceCrds } from "../crds/shared-resource.ts";
import { containerMiB } from "../share-memory.ts";
import { type ComponentRow, type Installation, type ManifestObject, object, type Right } from "./component.ts";
import { eventRight } from "./rights.ts";

const driver = "csi.sharedresource.openshift.io";
const port = 8_080;
/** The driver that is replaced serves its metrics over TLS, and somebody may scrape it there. */
const tlsStatus = { port: "provisioner-m", secret: "shared-resource-csi-driver-node-metrics-serving-cert" } as const;
const tlsPort = 6_000;
const certificates = "/etc/secrets";
const registry = "/registration";
const records = "/csi-volumes-map";
const config = "/var/run/configmaps/config";
export const nodeServiceAccount = "shared-resource-node";

const pluginFolder = ({ kubeletFolder }: Installation): string => `${kubeletFolder}/plugins/${driver}`;

export const sharesRight: Right = {
  apiGroups: ["sharedresource.openshift.io"],
  resources: ["sharedsecrets", "sharedconfigmaps"],
  // The watches of a share and of its Secret are not ordered with each other: before a volume is emptied, and where a write meets a newer
  // version, the share is read.
  verbs: ["get", "list", "watch"],
  why: "A share says which Secret or ConfigMap it stands for; it is read again before a volume whose Secret or ConfigMap was deleted is emptied.",
};

export const sharedResourceRow: ComponentRow = {
  name: "shared-resource",
  summary: "Mounts shared Secrets and ConfigMaps into pods of other namespaces, on every node.",
  isDefault: false,
  serviceAccount: nodeServiceAccount,
  clusterRules: [
    sharesRight,
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["subjectaccessreviews"],
      verbs: ["create"],
      why: "A pod gets the data only if its service account may use the share. The owner of a share grants the driver its Secret or ConfigMap, one by one.",
    },
    {
      apiGroups: [""],
      resources: ["namespaces"],
      verbs: ["get"],
      why: "Who deletes a namespace deletes the driver's right to read a Secret there as well, perhaps before the Secret: where that right is refused, a volume is emptied only if the namespace is gone.",
    },
    eventRight,
  ],
  namespaceRules: [],
  workload: {
    name: "shared-resource-csi-driver-node",
    app: "shared-resource-csi-driver-node",
    runs: { kind: "node" },
    unrestricted:
      "It mounts volumes for pods, which needs root on the node and a shared mount of the kubelet's folder.",
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "driver",
        hasPrograms: true,
        isPrivileged: true,
        args: (installation) => [
          "shared-resource",
          "--mode=node",
          "--endpoint=unix:///csi/csi.sock",
          `--kubelet-registration-path=${pluginFolder(installation)}/csi.sock`,
          `--kubelet-registry-folder=${registry}`,
          `--kubelet-folder=${installation.kubeletFolder}`,
          `--volume-map-folder=${records}`,
          `--config=${config}/config.yaml`,
          `--allow-list-namespace=${installation.namespace}`,
          `--http-endpoint=:${port}`,
          `--https-endpoint=:${tlsPort}`,
          `--tls-cert-file=${certificates}/tls.crt`,
          `--tls-private-key-file=${certificates}/tls.key`,
        ],
        env: [{ name: "KUBE_NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
        ports: [
          { name: "driver", containerPort: port },
          { name: tlsStatus.port, containerPort: tlsPort },
        ],
        statusPort: "driver",
        tlsStatus,
        volumeMounts: ({ kubeletFolder }) => [
          { name: "socket", mountPath: "/csi" },
          { name: "registration", mountPath: registry },
          { name: "kubelet", mountPath: kubeletFolder, mountPropagation: "Bidirectional" },
          { name: "records", mountPath: records },
          { name: "config", mountPath: config, readOnly: true },
          { name: "certificates", mountPath: certificates, readOnly: true },
        ],
        memory: ["96Mi", `${containerMiB}Mi`],
      },
    ],
    volumes: (installation) => [
      { name: "socket", hostPath: { path: pluginFolder(installation), type: "DirectoryOrCreate" } },
      { name: "registration", hostPath: { path: `${installation.kubeletFolder}/plugins_registry`, type: "Directory" } },
      { name: "kubelet", hostPath: { path: installation.kubeletFolder, type: "Directory" } },
      // The records of the driver that is replaced lie there too: its volumes are taken over.
      { name: "records", hostPath: { path: "/var/lib/csi-volumes-map", type: "DirectoryOrCreate" } },
      { name: "config", configMap: { name: "csi-driver-shared-resource-config", optional: true } },
      { name: "certificates", secret: { secretName: tlsStatus.secret, optional: true } },
    ],
  },
  crds: () => sharedResourceCrds() as unknown as readonly ManifestObject[],
  others: () => [{ path: "csidriver.yaml", objects: [csiDriver] }],
  additions: () => [],
  alerts: [
    {
      name: "SharedResourceVolumeNotEmptied",
      expression: 'sum(openshift_csi_share_volumes_not_current{cause="not_emptied"}) > 0',
      for: "5m",
      severity: "critical",
      summary: "Pods can read data of shares that was taken away from them.",
      remedy:
        "The event SharedVolumeNotCurrent of the pod and the log of the driver on its node say why. Delete the pod, which removes the volume, if the driver does not succeed by itself.",
    },
    {
      name: "SharedResourceVolumeNotCurrent",
      expression: 'sum(openshift_csi_share_volumes_not_current{cause!="not_emptied"}) > 0',
      for: "15m",
      severity: "warning",
      summary:
        "Volumes of shares do not show what their Secret or ConfigMap holds now, or nobody knows whether they do.",
      remedy:
        "The label cause of openshift_csi_share_volumes_not_current and the event SharedVolumeNotCurrent of the pod say why: no room (memory), no answer of the API server (unanswered), a Secret or ConfigMap that cannot be read (source), an error while writing (not_written), or a volume that an earlier driver has mounted and of which there is no record (unrecorded; the driver's log names it).",
    },
  ],
  panels: [
    {
      title: "Mounts of shared resources",
      unit: "reqps",
      queries: [
        { expression: "sum(rate(openshift_csi_share_mount_requests_total[5m]))", legend: "requested" },
        { expression: "sum(rate(openshift_csi_share_mount_failures_total[5m]))", legend: "failed" },
      ],
    },
  ],
};

const csiDriver = object<CSIDriver>("storage.k8s.io/v1", "CSIDriver", {
  metadata: {
    name: driver,
    annotations: { "csi.openshift.io/managed": "true" },
    // OpenShift admits pods with volumes of this driver in restricted namespaces too.
    labels: { "security.openshift.io/csi-ephemeral-volume-profile": "restricted" },
  },
  spec: {
    attachRequired: false,
    podInfoOnMount: true,
    fsGroupPolicy: "File",
    volumeLifecycleModes: ["Ephemeral"],
  },
});
