/** Metrics that several components report under one name, which upstream dashboards know. */

/** Each sidecar measures its calls to its driver. */
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

/**
 * What the two rules of shared resources found, without labels and at 0 from the start. The webhook counts what it refuses; while it
 * is down, controller and driver count the same under a name of their own. Alerts add both.
 */
export const sharingMetrics = <Where extends "webhook" | "controller">(where: Where) =>
  ({
    secretNameFailures: counter(
      `openshift_csi_share_sharedsecret_reserved_name_failures_${where}_total`,
      "SharedSecrets that were found with a reserved name that their reference does not allow.",
    ),
    configMapNameFailures: counter(
      `openshift_csi_share_sharedconfigmap_reserved_name_failures_${where}_total`,
      "SharedConfigMaps that were found with a reserved name that their reference does not allow.",
    ),
    readOnlyFailures: counter(
      `openshift_csi_share_pod_readonly_failures_${where}_total`,
      "Pods and pod templates that were refused because a volume of the shared-resource driver is not read-only.",
    ),
    readOnlySuccesses: counter(
      `openshift_csi_share_pod_readonly_successes_${where}_total`,
      "Pods and pod templates with volumes of the shared-resource driver that are all read-only.",
    ),
  }) as const;

const counter = <Name extends string>(name: Name, help: string) =>
  ({ type: "counter", name, help, labels: [] }) as const;
