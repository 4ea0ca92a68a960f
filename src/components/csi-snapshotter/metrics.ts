/** Metrics of the sidecar, with the names, labels and buckets of upstream's. */
import { csiCallSeconds, failedAttempts } from "../../api/metrics.ts";
import type { MetricTable } from "../../runtime/metrics.ts";

export const sidecarMetrics = {
  calls: csiCallSeconds,
  errors: failedAttempts,
  secretMismatches: {
    type: "counter",
    name: "csi_snapshotter_deletion_secret_mismatches_total",
    help: "Deletions of snapshots with another secret than the content's class names; the event DeletionSecretMismatch names both.",
    labels: ["driver_name"],
  },
} as const satisfies MetricTable;
