/** What the snapshot-controller measures. The first two names, their labels and buckets are those dashboards know. */
import { failedAttempts } from "../../api/metrics.ts";
import type { MetricTable } from "../../runtime/metrics.ts";

export const snapshotMetrics = {
  operations: {
    type: "histogram",
    name: "snapshot_controller_operation_total_seconds",
    help: "Time from when the controller first saw the requested operation until it was done.",
    labels: ["driver_name", "operation_name", "snapshot_type", "operation_status"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600],
  },
  inFlight: {
    type: "gauge",
    name: "snapshot_controller_operations_in_flight",
    help: "Operations that have started and are not done.",
    labels: [],
  },
  errors: failedAttempts,
  phases: {
    type: "gauge",
    name: "snapshot_controller_snapshots",
    help: "Snapshots by lifecycle phase.",
    labels: ["phase"],
  },
  oldestUnready: {
    type: "gauge",
    name: "snapshot_controller_oldest_unready_snapshot_seconds",
    help: "Age of the oldest snapshot that is neither ready nor being deleted; 0 when there is none.",
    labels: [],
  },
  stuckDeletions: {
    type: "gauge",
    name: "snapshot_controller_stuck_deletions",
    help: "Snapshots whose deletion was requested more than ten minutes ago.",
    labels: [],
  },
  invalid: {
    type: "gauge",
    name: "snapshot_controller_invalid_objects",
    help: "VolumeSnapshots and VolumeSnapshotContents that are labelled because they break a rule.",
    labels: ["kind"],
  },
} as const satisfies MetricTable;
