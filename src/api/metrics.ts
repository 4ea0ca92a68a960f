/** Metrics that several components report under one name, which upstream dashboards know. */

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
