/** Metrics that several components report under one name, which upstream dashboards know. */

/** Of each sidecar's calls to its driver. */
export const csiCallSeconds = {
  type: "histogram",
  name: "csi_sidecar_operations_seconds",
  help: "Duration of CSI calls, by method and gRPC status code.",
  labels: ["driver_name", "method_name", "grpc_status_code"],
  buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
} as const;

/**
 * Each process counts the attempts it makes itself: the controller its own, a sidecar its calls to the driver. So their sum is the
 * number of attempts that failed, and none is counted twice.
 */
export const failedAttempts = {
  type: "counter",
  name: "snapshot_controller_operation_errors_total",
  help: "Failed attempts of this process, each counted once: rejected snapshots and failed writes of the controller, failed CSI calls of the sidecar.",
  labels: ["driver_name", "operation_name"],
} as const;
