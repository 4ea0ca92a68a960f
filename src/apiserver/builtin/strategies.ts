/** What is particular to each built-in kind, by "group/Kind". */

import { indexed } from "../../schema/field-error.ts";
import { webhookConfigurationStrategies } from "../admission/configurations.ts";
import type { ApiObject, FieldError, Parts, Strategy } from "../contracts.ts";
import { rbacStrategies } from "../rbac/objects.ts";
import { reviewStrategies } from "../rbac/reviews.ts";
import { finalizerErrors } from "./check.ts";
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
  ...ofOtherGroups,
  ...mapped(strictKinds(dataSources), withFinalizerRule),
});

const mapped = (
  strategies: Readonly<Record<string, Strategy>>,
  change: (strategy: Strategy) => Strategy,
): Readonly<Record<string, Strategy>> =>
  Object.fromEntries(Object.entries(strategies).map(([kind, strategy]) => [kind, change(strategy)]));

/** Most built-in kinds take only finalizers that are qualified, or known of old; custom kinds take any. */
const withFinalizerRule = (strategy: Strategy): Strategy => ({
  ...strategy,
  validateCreate: (object, context) => [
    ...unqualifiedFinalizers(object),
    ...(strategy.validateCreate?.(object, context) ?? []),
  ],
  validateUpdate: (object, old, context) => [
    ...unqualifiedFinalizers(object),
    ...(strategy.validateUpdate?.(object, old, context) ?? []),
  ],
});

const unqualifiedFinalizers = ({ metadata: { finalizers = [] } }: ApiObject): readonly FieldError[] =>
  finalizers.flatMap((name, index) => finalizerErrors(indexed("metadata.finalizers", index), name));

/** Kinds that are judged by the common rules alone. */
const ofOtherGroups: Readonly<Record<string, Strategy>> = {
  ...reviewStrategies,
  ...webhookConfigurationStrategies,
  "/Event": coreEventStrategy,
  "coordination.k8s.io/Lease": leaseStrategy,
  "events.k8s.io/Event": modernEventStrategy,
};

const strictKinds = (dataSources: DataSourceTable): Readonly<Record<string, Strategy>> => ({
  "/ConfigMap": configMapStrategy,
  "/Namespace": namespaceStrategy,
  "/Node": nodeStrategy,
  "/PersistentVolume": volumeStrategy,
  "/PersistentVolumeClaim": createClaimStrategy(dataSources),
  "/Pod": podStrategy,
  "/Secret": secretStrategy,
  "/ServiceAccount": {},
  "/Service": serviceStrategy,
  ...workloadStrategies,
  ...rbacStrategies,
  "storage.k8s.io/CSIDriver": csiDriverStrategy,
  "storage.k8s.io/CSINode": csiNodeStrategy,
  "storage.k8s.io/CSIStorageCapacity": capacityStrategy,
  "storage.k8s.io/StorageClass": storageClassStrategy,
  "storage.k8s.io/VolumeAttachment": attachmentStrategy,
});
