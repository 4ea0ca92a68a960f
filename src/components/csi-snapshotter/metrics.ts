/** What the sidecar measures of its driver, under the name, labels and buckets that dashboards know. */
import { failedAttempts, type MetricTable } from "../../runtime/metrics.ts";

export const sidecarMetrics = {
  calls: {
    type: "histogram",
    name: "csi_sidecar_operations_seconds",
    help: "How long CSI calls took, by method and outcome.",
    labels: ["driver_name", "method_name", "grpc_status_code"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  },
  errors: failedAttempts,
  secretMismatches: {
    type: "counter",
    name: "csi_snapshotter_deletion_secret_mismatches_total",
    help: "Deletions of snapshots by another secret than the class of the content names; the event DeletionSecretMismatch names both.",
    labels: ["driver_name"],
  },
} as const satisfies MetricTable;
