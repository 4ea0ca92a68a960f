/** What the provisioner measures, under the names, labels and buckets that dashboards know. */
import { csiCallSeconds } from "../../api/metrics.ts";
import type { MetricTable } from "../../runtime/metrics.ts";

const byClassAndSource = ["class", "source"] as const;

/** Those that Prometheus' client uses unless told otherwise. */
const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const provisionerMetrics = {
  calls: csiCallSeconds,
  provisioned: {
    type: "counter",
    name: "controller_persistentvolumeclaim_provision_total",
    help: "Volumes that were provisioned, by StorageClass and kind of the data source.",
    labels: byClassAndSource,
  },
  provisionDuration: {
    type: "histogram",
    name: "controller_persistentvolumeclaim_provision_duration_seconds",
    help: "How long successful attempts to provision a volume took, by StorageClass and kind of the data source.",
    labels: byClassAndSource,
    buckets: attemptBuckets,
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
  deleteDuration: {
    type: "histogram",
    name: "controller_persistentvolume_delete_duration_seconds",
    help: "How long successful attempts to delete a volume took, by StorageClass.",
    labels: ["class"],
    buckets: attemptBuckets,
  },
  deleteFailed: {
    type: "counter",
    name: "controller_persistentvolume_delete_failed_total",
    help: "Attempts to delete a volume that failed, by StorageClass.",
    labels: ["class"],
  },
  crossProvisioned: {
    type: "counter",
    name: "cross_namespace_persistentvolumeclaim_provision_total",
    help: "Volumes that were provisioned from a source that is named with its namespace, by StorageClass and by what names it: ref (the claim) or link (a VolumeSnapshotLink).",
    labels: byClassAndSource,
  },
  crossFailed: {
    type: "counter",
    name: "cross_namespace_persistentvolumeclaim_provision_failed_total",
    help: "Attempts to provision a volume from a source that is named with its namespace that failed or were denied, by StorageClass and by what names it: ref (the claim) or link (a VolumeSnapshotLink).",
    labels: byClassAndSource,
  },
} as const satisfies MetricTable;
