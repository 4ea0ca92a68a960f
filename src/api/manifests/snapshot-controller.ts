/** The snapshot-controller in a cluster. */
import { snapshotCrds } from "../crds/index.ts";
import type { ComponentRow, ManifestObject } from "./component.ts";
import { electionRights, eventRight } from "./rights.ts";
import { waitingAlert, waitingPanels } from "./waiting.ts";

const group = "snapshot.storage.k8s.io";
const groupGroup = "groupsnapshot.storage.k8s.io";
const port = 8_080;

/**
 * Where upstream's controller keeps its lease, whatever the namespace of ours: as long as one of both works, the other one waits, so
 * that a swap never has two controllers at work.
 */
export const leaseNamespace = "kube-system";
export const leaseName = "snapshot-controller-leader";

export const snapshotControllerRow: ComponentRow = {
  name: "snapshot-controller",
  summary: "Binds VolumeSnapshots to their contents and protects the source claims.",
  isDefault: true,
  serviceAccount: "snapshot-controller",
  clusterRules: [
    {
      apiGroups: [group],
      resources: ["volumesnapshots"],
      verbs: ["get", "list", "watch", "create", "patch", "delete"],
      why: "It reconciles them, and sets finalizers, labels and the default class. Members of a group are created and deleted with it.",
    },
    {
      apiGroups: [group],
      resources: ["volumesnapshots/status"],
      verbs: ["patch"],
      why: "It writes whether a snapshot is bound and ready, and errors.",
    },
    {
      apiGroups: [group],
      resources: ["volumesnapshotcontents"],
      verbs: ["get", "list", "watch", "create", "patch", "delete"],
      why: "A snapshot's content is created, bound and deleted with it.",
    },
    {
      apiGroups: [group],
      resources: ["volumesnapshotcontents/status"],
      verbs: ["patch"],
      why: "It writes why a content is not valid: its driver's sidecar leaves such a content alone.",
    },
    {
      apiGroups: [group],
      resources: ["volumesnapshotclasses"],
      verbs: ["get", "list", "watch"],
      why: "A class has the driver, the deletion policy and the secrets of a snapshot; it is read again before an error about it is shown.",
    },
    {
      apiGroups: [groupGroup],
      resources: ["volumegroupsnapshots"],
      verbs: ["get", "list", "watch", "patch"],
      why: "It reconciles them, and sets finalizers and the default class; a group is read again before its members are released.",
    },
    {
      apiGroups: [groupGroup],
      resources: ["volumegroupsnapshots/status"],
      verbs: ["patch"],
      why: "It writes whether a group is bound and ready, and errors.",
    },
    {
      apiGroups: [groupGroup],
      resources: ["volumegroupsnapshotcontents"],
      verbs: ["get", "list", "watch", "create", "patch", "delete"],
      why: "A group's content, with the list of its volumes, is created, bound and deleted with it.",
    },
    {
      apiGroups: [groupGroup],
      resources: ["volumegroupsnapshotclasses"],
      verbs: ["list", "watch"],
      why: "A class has the driver, the deletion policy and the secrets of a group.",
    },
    {
      apiGroups: [""],
      resources: ["persistentvolumeclaims"],
      verbs: ["get", "list", "watch", "update"],
      why: "It puts a finalizer on a claim while a snapshot of the claim is taken.",
    },
    {
      apiGroups: [""],
      resources: ["persistentvolumes"],
      verbs: ["get", "list", "watch"],
      why: "A volume has the handle that the snapshot is taken of; it is read again before an error about it is shown.",
    },
    {
      apiGroups: ["gateway.networking.k8s.io"],
      resources: ["referencegrants"],
      verbs: ["list", "watch"],
      why: "Claims of other namespaces protect a snapshot only where a grant allows it.",
    },
    {
      apiGroups: ["snapshot.storage.k8s.io"],
      resources: ["volumesnapshotlinks"],
      verbs: ["list", "watch"],
      why: "A claim that is restored through a link protects the snapshot that the link names.",
    },
    eventRight,
  ],
  namespaceRules: electionRights(leaseName, leaseNamespace),
  crds: () => snapshotCrds(3) as unknown as readonly ManifestObject[],
  workload: {
    name: "snapshot-controller",
    app: "snapshot-controller",
    runs: { kind: "replicas", count: 2 },
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "snapshot-controller",
        args: () => [
          "snapshot-controller",
          "--leader-election=true",
          `--leader-election-namespace=${leaseNamespace}`,
          `--http-endpoint=:${port}`,
        ],
        ports: [{ name: "http", containerPort: port }],
        statusPort: "http",
        volumeMounts: () => [],
        memory: ["160Mi", "512Mi"],
      },
    ],
    volumes: () => [],
  },
  others: () => [],
  additions: () => [],
  alerts: [
    {
      name: "SnapshotNotReady",
      expression: "max(snapshot_controller_oldest_unready_snapshot_seconds) > 900",
      for: "1m",
      severity: "warning",
      summary: "A VolumeSnapshot has not been ready for more than 15 minutes.",
      remedy:
        "kubectl get volumesnapshots -A shows which; kubectl describe shows its events. The code at the end of the message has an entry in docs/reference/errors.md. Without an event, look whether the driver's csi-snapshotter runs and holds its lease.",
    },
    {
      name: "SnapshotDeletionStuck",
      expression: "max(snapshot_controller_stuck_deletions) > 0",
      for: "1m",
      severity: "warning",
      summary: "A VolumeSnapshot has been terminating for more than 10 minutes.",
      remedy:
        "kubectl describe the VolumeSnapshot and its content: a claim that is being restored from it, or an error of the driver, holds the deletion. Do not remove finalizers by hand: the snapshot would stay on the storage system.",
    },
    {
      name: "SnapshotErrors",
      expression:
        "sum(rate(snapshot_controller_operation_errors_total[15m])) > 0.2 * sum(rate(snapshot_controller_operation_total_seconds_count[15m])) and sum(increase(snapshot_controller_operation_errors_total[15m])) > 5",
      for: "5m",
      severity: "warning",
      summary: "More than one in five snapshot operations fails.",
      remedy:
        "snapshot_controller_operation_errors_total has the driver and the operation. Look into the log of that driver, and at the events of VolumeSnapshots and contents.",
    },
    {
      name: "InvalidSnapshotObjects",
      expression: "sum(max by (kind) (snapshot_controller_invalid_objects)) > 0",
      for: "10m",
      severity: "warning",
      summary: "Stored VolumeSnapshots or VolumeSnapshotContents break a rule.",
      remedy:
        "kubectl get volumesnapshots,volumesnapshotcontents -A -o yaml | snapkeep lint - names each object and the remedy. Correct them before you install CRDs with stricter schemas.",
    },
    {
      name: "SnapshotControllerHasNoLeader",
      expression: `absent(leader_election_master_status{name="${leaseName}"} == 1)`,
      for: "2m",
      severity: "critical",
      summary: "No snapshot-controller holds the lease: no snapshot is taken or deleted.",
      remedy:
        "kubectl -n kube-system get lease snapshot-controller-leader shows the last holder. Look at the pods of the snapshot-controller and at their logs; a holder that is not one of them is another installation.",
    },
    waitingAlert,
  ],
  panels: [
    {
      title: "Snapshots by phase",
      unit: "short",
      queries: [{ expression: "max by (phase) (snapshot_controller_snapshots)", legend: "{{phase}}" }],
    },
    {
      title: "Oldest snapshot that is not ready",
      unit: "s",
      queries: [{ expression: "max(snapshot_controller_oldest_unready_snapshot_seconds)", legend: "age" }],
    },
    {
      title: "Time until an operation is done, 95th percentile",
      unit: "s",
      queries: [
        {
          expression:
            "histogram_quantile(0.95, sum by (le, driver_name, operation_name) (rate(snapshot_controller_operation_total_seconds_bucket[5m])))",
          legend: "{{driver_name}} {{operation_name}}",
        },
      ],
    },
    {
      title: "Failed attempts",
      unit: "reqps",
      queries: [
        {
          expression: "sum by (driver_name, operation_name) (rate(snapshot_controller_operation_errors_total[5m]))",
          legend: "{{driver_name}} {{operation_name}}",
        },
      ],
    },
    {
      title: "Stuck deletions and invalid objects",
      unit: "short",
      queries: [
        { expression: "max(snapshot_controller_stuck_deletions)", legend: "stuck deletions" },
        { expression: "max by (kind) (snapshot_controller_invalid_objects)", legend: "invalid {{kind}}" },
      ],
    },
    ...waitingPanels,
  ],
};
