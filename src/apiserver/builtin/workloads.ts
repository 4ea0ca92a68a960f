/** Deployments and their like: stored, defaulted and judged. No controller runs here, so their pods are never made. */
import type { PodTemplateSpec } from "kubernetes-types/core/v1.js";
import type { LabelSelector } from "kubernetes-types/meta/v1.js";
import { equal, isObject, type JsonObject } from "../../base/json.ts";
import { child, invalid, notSupported, required } from "../../schema/field-error.ts";
import { fitToGo } from "../../schema/go/fit.ts";
import { goStruct } from "../../schema/go/types.ts";
import { goStructJson } from "../../schema/go-text.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
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

/** What the kinds say differently about the same mistakes. */
interface Wording {
  /** Undefined: a missing selector is only told by what it does not match. */
  readonly missing: boolean;
  readonly empty: string;
  /** Undefined: a bad selector is only told part by part. */
  readonly bad?: string;
}

const controller = (wording: Wording, setDefaults: (spec: JsonObject) => void): Strategy => ({
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefaults(spec);
    setTemplateDefaults(spec);
  },
  prepareForCreate: (object) => {
    object.status = emptyStatus(object);
  },
  validateCreate: (object) => controllerErrors(object, wording),
  validateUpdate: (object, old, { subresource }) =>
    subresource === ""
      ? [
          ...controllerErrors(object, wording),
          ...immutableField("spec.selector", specOf(object).selector, specOf(old).selector),
        ]
      : [],
});

/** A Go struct is never absent: some of its fields are written even when nothing is in them. */
function emptyStatus(object: ApiObject): JsonObject {
  const struct = goStruct(object.apiVersion, object.kind);
  return struct === undefined ? {} : part(fitToGo(struct, {}).object, "status");
}

function controllerErrors(object: ApiObject, wording: Wording): readonly FieldError[] {
  const { replicas = 0, selector } = specOf(object);
  const errors: FieldError[] = [];
  if (replicas < 0) errors.push(invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  if (isObject(selector)) errors.push(...selectorErrors(selector as LabelSelector, wording));
  else if (wording.missing) errors.push(required("spec.selector"));
  return [...errors, ...templateErrors(object)];
}

function selectorErrors(selector: LabelSelector, { empty, bad }: Wording): readonly FieldError[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const problems = labelSelectorErrors(selector, "spec.selector");
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0;
  return [
    ...problems,
    ...(isEmpty ? [invalid("spec.selector", {}, `empty selector is invalid for ${empty}`)] : []),
    ...(problems.length > 0 && bad !== undefined ? [invalid("spec.selector", goStructJson(selector), bad)] : []),
  ];
}

function templateErrors(object: ApiObject): readonly FieldError[] {
  const { selector, template } = specOf(object);
  const labels = template?.metadata?.labels ?? {};
  const restartPolicy = template?.spec?.restartPolicy;
  const errors: FieldError[] = [];
  const judged = isObject(selector) ? (selector as LabelSelector) : undefined;
  const isSound = judged === undefined || labelSelectorErrors(judged, "").length === 0;
  if (isSound && (judged === undefined || !matchesSelector(judged, labels)))
    errors.push(
      invalid(
        "spec.template.metadata.labels",
        template?.metadata?.labels ?? null,
        "`selector` does not match template `labels`",
      ),
    );
  errors.push(...podSpecErrors(template?.spec ?? { containers: [] }, "spec.template.spec"));
  if (restartPolicy !== undefined && restartPolicy !== "Always")
    errors.push(notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]));
  return errors;
}

const templateGeneration = "deprecated.daemonset.template.generation";
const daemonSet = controller({ missing: false, empty: "daemonset" }, daemonSetDefaults);

/** Counts the changes of its template in an annotation, for clients that are long gone. */
const daemonSetStrategy: Strategy = {
  ...daemonSet,
  prepareForCreate: (object, context) => {
    daemonSet.prepareForCreate?.(object, context);
    setTemplateGeneration(object, 1);
  },
  prepareForUpdate: (object, old) => {
    const before = Number(old.metadata.annotations?.[templateGeneration] ?? 0);
    const isSame = equal(part(object, "spec").template, part(old, "spec").template);
    setTemplateGeneration(object, isSame ? before : before + 1);
  },
};

function setTemplateGeneration(object: ApiObject, generation: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [templateGeneration]: String(generation) };
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
  prepareForCreate: (object) => {
    object.status = emptyStatus(object);
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
    object.metadata.labels ??= { ...labels };
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
    ...(policy === "Always" ? [required(child(field, "restartPolicy"), 'valid values: "OnFailure", "Never"')] : []),
  ];
}

const replicaSetDefaults = (spec: JsonObject): void => setDefault(spec, "replicas", 1);
const badSelector = "invalid label selector";

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
  "apps/DaemonSet": daemonSetStrategy,
  "apps/Deployment": controller({ missing: true, empty: "deployment", bad: badSelector }, deploymentDefaults),
  // Kubernetes calls this one by the other's name.
  "apps/ReplicaSet": controller({ missing: true, empty: "deployment", bad: badSelector }, replicaSetDefaults),
  "apps/StatefulSet": controller({ missing: true, empty: "statefulset", bad: "" }, statefulSetDefaults),
  "batch/CronJob": cronJob,
  "batch/Job": job,
};
