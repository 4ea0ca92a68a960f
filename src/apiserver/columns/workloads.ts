/** Columns of what makes pods: deployments, sets, jobs. */
import type { JsonValue } from "../../base/json.ts";
import { ageSince, humanSpan } from "../age.ts";
import type { ApiObject, Column } from "../contracts.ts";
import {
  ageColumn,
  at,
  column,
  conditionOf,
  count,
  labelsText,
  listAt,
  nameColumn,
  numberAt,
  or,
  sizeAt,
  textAt,
  wide,
} from "./basic.ts";
import { selectorText } from "./selector-text.ts";

type Template = (object: ApiObject) => JsonValue | undefined;
const ownTemplate: Template = (object) => at(object, "spec", "template");

const containers =
  (template: Template, field: "name" | "image"): Column["cell"] =>
  (object) =>
    listAt(template(object), "spec", "containers")
      .map((container) => textAt(container, field))
      .join(",");

const containerColumns = (template: Template = ownTemplate): readonly Column[] => [
  wide("Containers", containers(template, "name")),
  wide("Images", containers(template, "image")),
];

const selector = (object: ApiObject, ...path: readonly string[]): string => {
  const value = at(object, ...path);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? or(selectorText(value), "<none>")
    : "<none>";
};
const selectorColumn = wide("Selector", (object) => selector(object, "spec", "selector"));

const ready = (object: ApiObject): string =>
  `${numberAt(object, "status", "readyReplicas")}/${numberAt(object, "spec", "replicas")}`;

const replicaColumns: readonly Column[] = [
  count("Desired", (object) => numberAt(object, "spec", "replicas")),
  count("Current", (object) => numberAt(object, "status", "replicas")),
  count("Ready", (object) => numberAt(object, "status", "readyReplicas")),
  ageColumn,
  ...containerColumns(),
];

/** What a job is, by the first of its conditions that holds. */
const jobStates = [
  ["Complete", "Complete"],
  ["Failed", "Failed"],
  ["", "Terminating"],
  ["Suspended", "Suspended"],
  ["FailureTarget", "FailureTarget"],
  ["SuccessCriteriaMet", "SuccessCriteriaMet"],
] as const;

function jobStatus(job: ApiObject): string {
  const holds = (condition: string): boolean =>
    condition === "" ? job.metadata.deletionTimestamp !== undefined : conditionOf(job, condition)?.status === "True";
  return jobStates.find(([condition]) => holds(condition))?.[1] ?? "Running";
}

function completions(job: ApiObject): string {
  const succeeded = numberAt(job, "status", "succeeded");
  const wanted = at(job, "spec", "completions");
  if (typeof wanted === "number") return `${succeeded}/${wanted}`;
  const parallelism = numberAt(job, "spec", "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: ApiObject, now: number): string {
  const started = Date.parse(textAt(job, "status", "startTime"));
  if (Number.isNaN(started)) return "";
  const ended = Date.parse(textAt(job, "status", "completionTime"));
  return humanSpan((Number.isNaN(ended) ? now : ended) - started);
}

const jobTemplate: Template = (object) => at(object, "spec", "jobTemplate", "spec", "template");
const suspended = (job: ApiObject): string => {
  const value = at(job, "spec", "suspend");
  return typeof value !== "boolean" ? "<unset>" : value ? "True" : "False";
};

export const workloadColumns: Readonly<Record<string, readonly Column[]>> = {
  "apps/Deployment": [
    nameColumn,
    column("Ready", ready),
    column("Up-to-date", (object) => numberAt(object, "status", "updatedReplicas")),
    column("Available", (object) => numberAt(object, "status", "availableReplicas")),
    ageColumn,
    ...containerColumns(),
    selectorColumn,
  ],
  "apps/StatefulSet": [nameColumn, column("Ready", ready), ageColumn, ...containerColumns()],
  "apps/DaemonSet": [
    nameColumn,
    count("Desired", (object) => numberAt(object, "status", "desiredNumberScheduled")),
    count("Current", (object) => numberAt(object, "status", "currentNumberScheduled")),
    count("Ready", (object) => numberAt(object, "status", "numberReady")),
    count("Up-to-date", (object) => numberAt(object, "status", "updatedNumberScheduled")),
    count("Available", (object) => numberAt(object, "status", "numberAvailable")),
    column("Node Selector", (object) => labelsText(at(ownTemplate(object), "spec", "nodeSelector"))),
    ageColumn,
    ...containerColumns(),
    selectorColumn,
  ],
  "apps/ReplicaSet": [nameColumn, ...replicaColumns, selectorColumn],
  "/ReplicationController": [
    nameColumn,
    ...replicaColumns,
    wide("Selector", (object) => labelsText(at(object, "spec", "selector"))),
  ],
  "batch/Job": [
    nameColumn,
    column("Status", jobStatus),
    column("Completions", completions),
    column("Duration", jobDuration),
    ageColumn,
    ...containerColumns(),
    selectorColumn,
  ],
  "batch/CronJob": [
    nameColumn,
    column("Schedule", (object) => textAt(object, "spec", "schedule")),
    column("Timezone", (object) => or(textAt(object, "spec", "timeZone"), "<none>")),
    column("Suspend", suspended, { type: "boolean" }),
    count("Active", (object) => sizeAt(object, "status", "active")),
    column("Last Schedule", (object, now) =>
      textAt(object, "status", "lastScheduleTime") === ""
        ? "<none>"
        : ageSince(at(object, "status", "lastScheduleTime"), now),
    ),
    ageColumn,
    ...containerColumns(jobTemplate),
    wide("Selector", (object) => selector(object, "spec", "jobTemplate", "spec", "selector")),
  ],
};
