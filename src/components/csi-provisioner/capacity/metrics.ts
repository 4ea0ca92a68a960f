/** What is measured of published capacity, under the names of external-provisioner. */
import type { MetricTable } from "../../../runtime/metrics.ts";

export const capacityMetrics = {
  goal: {
    type: "gauge",
    name: "csistoragecapacities_desired_goal",
    help: "CSIStorageCapacity objects that should exist: topology segments times StorageClasses.",
    labels: [],
  },
  current: {
    type: "gauge",
    name: "csistoragecapacities_desired_current",
    help: "CSIStorageCapacity objects that should exist and do.",
    labels: [],
  },
  obsolete: {
    type: "gauge",
    name: "csistoragecapacities_obsolete",
    help: "CSIStorageCapacity objects that exist and are about to be deleted, because their segment or class is gone.",
    labels: [],
  },
} as const satisfies MetricTable;
