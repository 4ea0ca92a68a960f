/** What is particular to each built-in kind, by "group/Kind". */
import { webhookConfigurationStrategies } from "../admission/configurations.ts";
import type { Parts } from "../contracts.ts";
import { rbacStrategies } from "../rbac/objects.ts";
import { reviewStrategies } from "../rbac/reviews.ts";
import { createClaimStrategy } from "./claims.ts";
import { namespaceStrategy, nodeStrategy } from "./cluster.ts";
import { configMapStrategy, secretStrategy } from "./configs.ts";
import { type DataSourceTable, kubernetesDataSources } from "./data-sources.ts";
import { coreEventStrategy, leaseStrategy, modernEventStrategy } from "./events.ts";
import { podStrategy } from "./pods.ts";
import { serviceStrategy } from "./services.ts";
import {
  attachmentStrategy,
  capacityStrategy,
  csiDriverStrategy,
  csiNodeStrategy,
  storageClassStrategy,
} from "./storage.ts";
import { volumeStrategy } from "./volumes.ts";
import { workloadStrategies } from "./workloads.ts";

export interface StrategyOptions {
  /** What becomes of a claim's data sources; Kubernetes' own treatment unless another is given. */
  readonly dataSources?: DataSourceTable;
}

export const createStrategies = ({
  dataSources = kubernetesDataSources,
}: StrategyOptions = {}): Parts["strategies"] => ({
  "/ConfigMap": configMapStrategy,
  "/Event": coreEventStrategy,
  "/Namespace": namespaceStrategy,
  "/Node": nodeStrategy,
  "/PersistentVolume": volumeStrategy,
  "/PersistentVolumeClaim": createClaimStrategy(dataSources),
  "/Pod": podStrategy,
  "/Secret": secretStrategy,
  "/Service": serviceStrategy,
  ...workloadStrategies,
  ...rbacStrategies,
  ...reviewStrategies,
  ...webhookConfigurationStrategies,
  "coordination.k8s.io/Lease": leaseStrategy,
  "events.k8s.io/Event": modernEventStrategy,
  "storage.k8s.io/CSIDriver": csiDriverStrategy,
  "storage.k8s.io/CSINode": csiNodeStrategy,
  "storage.k8s.io/CSIStorageCapacity": capacityStrategy,
  "storage.k8s.io/StorageClass": storageClassStrategy,
  "storage.k8s.io/VolumeAttachment": attachmentStrategy,
});
