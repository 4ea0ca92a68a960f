/** Metrics of the node driver: upstream's two mount counters, and the checks of the webhook that are repeated at the mount. No labels. */
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
  ...sharingMetrics("controller"),
} as const satisfies MetricTable;
