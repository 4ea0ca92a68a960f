/** What the provisioner measures, under the names, labels and buckets that dashboards know. */
import type { MetricTable } from "../../runtime/metrics.ts";

const byClassAndSource = ["class", "source"] as const;

export const provisionerMetrics = {
  calls: {
    type: "histogram",
    name: "csi_sidecar_operations_seconds",
    help: "How long CSI calls took, by method and outcome.",
    labels: ["driver_name", "method_name", "grpc_status_code"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  },
  provisioned: {
    type: "counter",
    name: "controller_persistentvolumeclaim_provision_total",
    help: "Volumes that were provisioned, by StorageClass and kind of the data source.",
    labels: byClassAndSource,
  },
  provisionFailed: {
    type: "counter",
    name: "controller_persistentvolumeclaim_provision_failed_total",
    help: "Attempts to provision a volume that failed, by StorageClass and kind of the data source.",
    labels: byClassAndSource,
  },
  deleted: {
    type: "counter",
    name: "controller_persistentvolume_delete_total",
    help: "Volumes that were deleted, by StorageClass.",
    labels: ["class"],
  },
  deleteFailed: {
    type: "counter",
    name: "controller_persistentvolume_delete_failed_total",
    help: "Attempts to delete a volume that failed, by StorageClass.",
    labels: ["class"],
  },
} as const satisfies MetricTable;
