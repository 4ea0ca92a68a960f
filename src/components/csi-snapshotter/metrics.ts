/** Metrics of the sidecar, with the names, labels and buckets of upstream's. */
import { failedAttempts } from "../../api/metrics.ts";
import type { MetricTable } from "../../runtime/metrics.ts";

export const sidecarMetrics = {
  calls: {
    type: "histogram",
    name: "csi_sidecar_operations_seconds",
    help: "Duration of CSI calls, by method and gRPC status code.",
    labels: ["driver_name", "method_name", "grpc_status_code"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  },
  errors: failedAttempts,
  secretMismatches: {
    type: "counter",
    name: "csi_snapshotter_deletion_secret_mismatches_total",
    help: "Deletions of snapshots with another secret than the content's class names; the event DeletionSecretMismatch names both.",
    labels: ["driver_name"],
  },
} as const satisfies MetricTable;
