/** Dashboards and alerts of the programs replaced name these: a name, a label or a bucket that changes makes them blind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sidecarMetrics } from "../../components/csi-snapshotter/metrics.ts";
import { snapshotMetrics } from "../../components/snapshot-controller/metrics.ts";

test("metrics that upstream has keep its names, labels and buckets", () => {
  const { operations, inFlight } = snapshotMetrics;
  const known = [operations, inFlight, sidecarMetrics.calls].map(({ help: _ours, ...row }) => row);
  assert.deepEqual(known, [
    {
      type: "histogram",
      name: "snapshot_controller_operation_total_seconds",
      labels: ["driver_name", "operation_name", "snapshot_type", "operation_status"],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600],
    },
    { type: "gauge", name: "snapshot_controller_operations_in_flight", labels: [] },
    {
      type: "histogram",
      name: "csi_sidecar_operations_seconds",
      labels: ["driver_name", "method_name", "grpc_status_code"],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
    },
  ]);
});
