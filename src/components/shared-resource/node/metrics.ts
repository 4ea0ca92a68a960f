/** Metrics of the node driver: upstream's two mount counters, and the checks of the webhook that are repeated at the mount. */
import { sharingMetrics } from "../../../api/metrics.ts";
import type { MetricTable } from "../../../runtime/metrics.ts";

export const nodeMetrics = {
  requests: {
    type: "counter",
    name: "openshift_csi_share_mount_requests_total",
    help: "NodePublishVolume requests, whatever came of them.",
    labels: [],
  },
  failures: {
    type: "counter",
    name: "openshift_csi_share_mount_failures_total",
    help: "NodePublishVolume requests that failed, for whatever reason.",
    labels: [],
  },
  volumes: {
    type: "gauge",
    name: "openshift_csi_share_mounted_volumes",
    help: "Volumes that are mounted on this node.",
    labels: [],
  },
  troubled: {
    type: "gauge",
    name: "openshift_csi_share_volumes_not_current",
    help: "Mounted volumes that are not as they should be, by cause: not_emptied, memory, not_written, unanswered, source, unrecorded.",
    labels: ["cause"],
  },
  troubledSeconds: {
    type: "gauge",
    name: "openshift_csi_share_volumes_not_current_seconds",
    help: "For how long the oldest of them has been so, by cause.",
    labels: ["cause"],
  },
  memoryBytes: {
    type: "gauge",
    name: "openshift_csi_share_volumes_memory_bytes",
    help: "Memory that the volumes of this node take, as the driver counts it.",
    labels: [],
  },
  memoryBytesMax: {
    type: "gauge",
    name: "openshift_csi_share_volumes_memory_bytes_max",
    help: "Memory that they may take.",
    labels: [],
  },
  ...sharingMetrics("controller"),
} as const satisfies MetricTable;
