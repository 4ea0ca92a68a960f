/** Deployments and their like: stored, defaulted and judged. No controller runs here, so their pods are never made. */
import type { PodTemplateSpec } from "kubernetes-types/core/v1.js";
import type { LabelSelector } from "kubernetes-types/meta/v1.js";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { child, invalid, notSupported, required } from "../field-error.ts";
import { matchesSelector } from "../label-match.ts";
import { ensure, immutableField, labelSelectorErrors, part, setDefault } from "./check.ts";
import { setPodSpecDefaults } from "./pod-defaults.ts";
import { podSpecErrors } from "./pod-rules.ts";

interface WorkloadSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
}
const specOf = (object: ApiObject): WorkloadSpec => part(object, "spec") as unknown as WorkloadSpec;

function setTemplateDefaults(spec: JsonObject): void {
  setPodSpecDefaults(ensure(ensure(spec, "template"), "spec"));
}

const rolling = (more: JsonObject): JsonObject => ({ type: "RollingUpdate", rollingUpdate: more });
const quarter = "25%";

const deploymentDefaults = (spec: JsonObject): void => {
  setDefault(spec, "replicas", 1);
  setDefault(spec, "strategy", {});
  const strategy = ensure(spec, "strategy");
  setDefault(strategy, "type", "RollingUpdate");
  if (strategy.type === "RollingUpdate") {
    const update = ensure(strategy, "rollingUpdate");
    setDefault(update, "maxUnavailable", quarter);
    setDefault(update, "maxSurge", quarter);
  }
  setDefault(spec, "revisionHistoryLimit", 10);
  setDefault(spec, "progressDeadlineSeconds", 600);
};

const daemonSetDefaults = (spec: JsonObject): void => {
  const strategy = ensure(spec, "updateStrategy");
  if (strategy.type === undefined) Object.assign(strategy, rolling({ maxUnavailable: 1, maxSurge: 0 }));
  setDefault(spec, "revisionHistoryLimit", 10);
};

const statefulSetDefaults = (spec: JsonObject): void => {
  setDefault(spec, "replicas", 1);
  setDefault(spec, "podManagementPolicy", "OrderedReady");
  const strategy = ensure(spec, "updateStrategy");
  if (strategy.type === undefined) Object.assign(strategy, rolling({ partition: 0 }));
  setDefault(spec, "revisionHistoryLimit", 10);
  setDefault(spec, "persistentVolumeClaimRetentionPolicy", {});
  const retention = ensure(spec, "persistentVolumeClaimRetentionPolicy");
  setDefault(retention, "whenDeleted", "Retain");
  setDefault(retention, "whenScaled", "Retain");
  for (const template of Array.isArray(spec.volumeClaimTemplates) ? spec.volumeClaimTemplates : []) {
    if (!isObject(template)) continue;
    setDefault(template, "apiVersion", "v1");
    setDefault(template, "kind", "PersistentVolumeClaim");
    setDefault(ensure(template, "spec"), "volumeMode", "Filesystem");
    setDefault(ensure(template, "status"), "phase", "Pending");
  }
};

const controller = (name: string, setDefaults: (spec: JsonObject) => void): Strategy => ({
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefaults(spec);
    setTemplateDefaults(spec);
  },
  validateCreate: (object) => controllerErrors(object, name),
  validateUpdate: (object, old, { subresource }) =>
    subresource === ""
      ? [
          ...controllerErrors(object, name),
          ...immutableField("spec.selector", specOf(object).selector, specOf(old).selector),
        ]
      : [],
});

function controllerErrors(object: ApiObject, name: string): readonly FieldError[] {
  const { replicas = 0, selector } = specOf(object);
  const errors: FieldError[] = [];
  if (replicas < 0) errors.push(invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  if (selector === undefined || selector === null) errors.push(required("spec.selector"));
  else errors.push(...selectorErrors(selector, name));
  return [...errors, ...templateErrors(object)];
}

function selectorErrors(selector: LabelSelector, name: string): readonly FieldError[] {
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  return [
    ...labelSelectorErrors(selector, "spec.selector"),
    ...(isEmpty ? [invalid("spec.selector", {}, `empty selector is invalid for ${name}`)] : []),
  ];
}

function templateErrors(object: ApiObject): readonly FieldError[] {
  const { selector, template } = specOf(object);
  const labels = template?.metadata?.labels ?? {};
  const restartPolicy = template?.spec?.restartPolicy;
  const errors: FieldError[] = [];
  if (selector !== undefined && selector !== null && !matchesSelector(selector, labels))
    errors.push(
      invalid(
        "spec.template.metadata.labels",
        Object.keys(labels).length === 0 ? null : labels,
        "`selector` does not match template `labels`",
      ),
    );
  errors.push(...podSpecErrors(template?.spec ?? { containers: [] }, "spec.template.spec"));
  if (restartPolicy !== undefined && restartPolicy !== "Always")
    errors.push(notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]));
  return errors;
}

/** The oldest of them: a plain map of labels, taken from the template when it is not said. */
const replicationController: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefault(spec, "replicas", 1);
    setTemplateDefaults(spec);
    const { labels } = part(part(spec, "template"), "metadata");
    if (!isObject(labels)) return;
    setDefault(spec, "selector", { ...labels });
    setDefault(object.metadata, "labels", { ...labels });
  },
  validateCreate: (object) => podSpecErrors(specOf(object).template?.spec ?? { containers: [] }, "spec.template.spec"),
};

const ownLabels = (object: ApiObject): Record<string, string> => {
  const { uid = "", name = "" } = object.metadata;
  return {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
};

const job: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    setDefault(spec, "parallelism", 1);
    setDefault(spec, "backoffLimit", 6);
    setDefault(spec, "completionMode", "NonIndexed");
    setDefault(spec, "suspend", false);
    setDefault(spec, "manualSelector", false);
    setDefault(spec, "podReplacementPolicy", "TerminatingOrFailed");
    setTemplateDefaults(spec);
  },
  prepareForCreate: (object) => {
    const spec = ensure(object, "spec");
    if (spec.manualSelector === true) return;
    const labels = ownLabels(object);
    const metadata = ensure(ensure(spec, "template"), "metadata");
    metadata.labels = { ...part(metadata, "labels"), ...labels };
    spec.selector = {
      matchLabels: { "batch.kubernetes.io/controller-uid": labels["batch.kubernetes.io/controller-uid"] ?? "" },
    };
  },
  validateCreate: (object) => jobErrors(object),
  validateUpdate: (object, old, { subresource }) =>
    subresource === ""
      ? [
          ...jobErrors(object),
          ...immutableField("spec.selector", specOf(object).selector, specOf(old).selector),
          ...immutableField("spec.template", specOf(object).template, specOf(old).template),
        ]
      : [],
};

function jobErrors(object: ApiObject): readonly FieldError[] {
  const field = "spec.template.spec";
  const spec = specOf(object).template?.spec;
  const policy = spec?.restartPolicy;
  return [
    ...podSpecErrors(spec ?? { containers: [] }, field),
    ...(policy === "OnFailure" || policy === "Never"
      ? []
      : [notSupported(child(field, "restartPolicy"), policy ?? "", ["OnFailure", "Never"])]),
  ];
}

const scheduleShape = /^(@\w+|(\S+\s+){4}\S+)$/;

const cronJob: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefault(spec, "concurrencyPolicy", "Allow");
    setDefault(spec, "suspend", false);
    setDefault(spec, "successfulJobsHistoryLimit", 3);
    setDefault(spec, "failedJobsHistoryLimit", 1);
    setTemplateDefaults(ensure(ensure(spec, "jobTemplate"), "spec"));
  },
  validateCreate: (object) => scheduleErrors(object),
  validateUpdate: (object) => scheduleErrors(object),
};

function scheduleErrors(object: ApiObject): readonly FieldError[] {
  const schedule = String(part(object, "spec").schedule ?? "");
  if (schedule === "") return [required("spec.schedule")];
  if (scheduleShape.test(schedule.trim())) return [];
  const parts = schedule.trim().split(/\s+/).length;
  return [invalid("spec.schedule", schedule, `expected exactly 5 fields, found ${parts}: [${schedule}]`)];
}

export const workloadStrategies: Readonly<Record<string, Strategy>> = {
  "/ReplicationController": replicationController,
  "apps/DaemonSet": controller("daemonset", daemonSetDefaults),
  "apps/Deployment": controller("deployment", deploymentDefaults),
  "apps/ReplicaSet": controller("replicaset", (spec) => setDefault(spec, "replicas", 1)),
  "apps/StatefulSet": controller("statefulset", statefulSetDefaults),
  "batch/CronJob": cronJob,
  "batch/Job": job,
};
