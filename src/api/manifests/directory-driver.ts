/** directory-driver in a cluster of one node, with its sidecars, in one pod. */
import { leaseNameFrom } from "../names.ts";
import type { ComponentRow, DriverNeeds, Installation, ManifestObject } from "./component.ts";
import { csiSidecarsRow } from "./csi-sidecars.ts";

const driver = "directory.snapkeep.dev";
const needs: DriverNeeds = { topology: false, attachments: false, capacity: false };
const root = "/var/lib/snapkeep/directory-driver";
const registry = "/registration";
const port = 8_080;

const socketMount = { name: "socket", mountPath: "/csi" };
const socket = { path: `${socketMount.mountPath}/csi.sock`, mount: socketMount };
const pluginFolder = ({ kubeletFolder }: Installation): string => `${kubeletFolder}/plugins/${driver}`;

export const directoryDriverRow: ComponentRow = {
  name: "directory-driver",
  summary: "A CSI driver over plain directories, for one node, with csi-snapshotter and csi-provisioner.",
  isDefault: false,
  serviceAccount: "directory-driver",
  ...csiSidecarsRow.rights(driver, needs),
  workload: {
    name: "directory-driver",
    app: "directory-driver",
    runs: { kind: "single" },
    unrestricted:
      "It mounts volumes for pods, which needs root on the node and a shared mount of the kubelet's folder.",
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "driver",
        hasPrograms: true,
        isPrivileged: true,
        args: (installation) => [
          "directory-driver",
          `--endpoint=unix://${socket.path}`,
          `--root=${root}`,
          `--kubelet-registration-path=${pluginFolder(installation)}/csi.sock`,
          `--kubelet-registry-folder=${registry}`,
          `--http-endpoint=:${port}`,
        ],
        env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
        ports: [{ name: "driver", containerPort: port }],
        statusPort: "driver",
        volumeMounts: ({ kubeletFolder }) => [
          socketMount,
          { name: "registration", mountPath: registry },
          { name: "kubelet", mountPath: kubeletFolder, mountPropagation: "Bidirectional" },
          { name: "volumes", mountPath: root },
          { name: "devices", mountPath: "/dev" },
        ],
        memory: ["96Mi", "512Mi"],
      },
      csiSidecarsRow.container(driver, socket),
    ],
    volumes: (installation) => [
      { name: "socket", hostPath: { path: pluginFolder(installation), type: "DirectoryOrCreate" } },
      { name: "registration", hostPath: { path: `${installation.kubeletFolder}/plugins_registry`, type: "Directory" } },
      { name: "kubelet", hostPath: { path: installation.kubeletFolder, type: "Directory" } },
      { name: "volumes", hostPath: { path: `${pluginFolder(installation)}/data`, type: "DirectoryOrCreate" } },
      // Loop devices of block volumes appear there while the pod runs.
      { name: "devices", hostPath: { path: "/dev", type: "Directory" } },
    ],
  },
  others: () => [{ path: "classes.yaml", objects: [csiDriver, storageClass, snapshotClass] }],
  additions: () => [],
  data: `volumes and snapshots of directory-driver, on its node in plugins/${driver}/data of the kubelet's folder`,
  alerts: [
    {
      name: "SidecarHasNoLeader",
      expression: [`external-snapshotter-leader-${driver}`, driver]
        .map((name) => `absent(leader_election_master_status{name="${leaseNameFrom(name)}"} == 1)`)
        .join(" or "),
      for: "2m",
      severity: "critical",
      summary: "No sidecar of the driver holds its lease: its volumes and snapshots are neither created nor deleted.",
      remedy:
        "kubectl get leases -A shows the last holder. Look at the pods of the driver: csi-sidecars waits until the driver answers, and its readiness page names the controller that lacks something.",
    },
    {
      name: "DriverErrors",
      expression:
        'sum by (driver_name) (rate(csi_sidecar_operations_seconds_count{grpc_status_code!="OK"}[15m])) > 0.2 * sum by (driver_name) (rate(csi_sidecar_operations_seconds_count[15m])) and sum by (driver_name) (increase(csi_sidecar_operations_seconds_count{grpc_status_code!="OK"}[15m])) > 5',
      for: "5m",
      severity: "warning",
      summary: "More than one in five calls to a CSI driver fails.",
      remedy:
        "csi_sidecar_operations_seconds_count has the method and the gRPC code. Look into the log of the driver, and at the events of claims and contents.",
    },
  ],
  panels: [
    {
      title: "CSI calls",
      unit: "reqps",
      queries: [
        {
          expression:
            "sum by (driver_name, method_name, grpc_status_code) (rate(csi_sidecar_operations_seconds_count[5m]))",
          legend: "{{driver_name}} {{method_name}} {{grpc_status_code}}",
        },
      ],
    },
    {
      title: "Duration of CSI calls, 95th percentile",
      unit: "s",
      queries: [
        {
          expression:
            "histogram_quantile(0.95, sum by (le, driver_name, method_name) (rate(csi_sidecar_operations_seconds_bucket[5m])))",
          legend: "{{driver_name}} {{method_name}}",
        },
      ],
    },
    {
      title: "Volumes created and deleted",
      unit: "reqps",
      queries: [
        {
          expression: "sum by (class) (rate(controller_persistentvolumeclaim_provision_total[5m]))",
          legend: "created, {{class}}",
        },
        {
          expression: "sum by (class) (rate(controller_persistentvolume_delete_total[5m]))",
          legend: "deleted, {{class}}",
        },
      ],
    },
  ],
};

const csiDriver = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: driver },
  spec: {
    attachRequired: false,
    podInfoOnMount: true,
    fsGroupPolicy: "File",
    volumeLifecycleModes: ["Persistent", "Ephemeral"],
  },
} as ManifestObject;

const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "directory" },
  provisioner: driver,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
} as ManifestObject;

const snapshotClass = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotClass",
  metadata: { name: "directory" },
  driver,
  deletionPolicy: "Delete",
} as ManifestObject;
