/** Why pods do not run, in their own words: what the scheduler, the kubelet and the container itself have said. Pure. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { at, listAt } from "./fields.ts";

const text = (...parts: readonly (JsonValue | undefined)[]): string =>
  parts.filter((part) => typeof part === "string" && part !== "").join(": ");

export function isReady(pod: JsonObject): boolean {
  return listAt(pod, "status", "conditions").some(
    (condition) => condition.type === "Ready" && condition.status === "True",
  );
}

/** Whether the pod is one of the workload's. */
export function isPodOf(pod: JsonObject, workload: JsonObject): boolean {
  const labels = at(workload, "spec", "selector", "matchLabels");
  return (
    isObject(labels) &&
    at(pod, "metadata", "namespace") === at(workload, "metadata", "namespace") &&
    Object.entries(labels).every(([name, value]) => at(pod, "metadata", "labels", name) === value)
  );
}

/** Undefined: it is ready, or ends. `events` are those about the pod. */
export function reasonOfPod(pod: JsonObject, events: readonly JsonObject[]): string | undefined {
  if (at(pod, "metadata", "deletionTimestamp") !== undefined || isReady(pod)) return undefined;
  return unscheduled(pod) ?? stoppedContainer(pod) ?? lastWarning(events) ?? unreadyContainer(pod);
}

function unscheduled(pod: JsonObject): string | undefined {
  const condition = listAt(pod, "status", "conditions").find(({ type }) => type === "PodScheduled");
  return condition?.status === "False" ? text(condition.reason, condition.message) : undefined;
}

const containersOf = (pod: JsonObject): readonly JsonObject[] => [
  ...listAt(pod, "status", "initContainerStatuses"),
  ...listAt(pod, "status", "containerStatuses"),
];

/** A container that is being created says nothing yet: an event says more. */
const isStarting = (reason: JsonValue | undefined): boolean =>
  reason === "ContainerCreating" || reason === "PodInitializing";

function stoppedContainer(pod: JsonObject): string | undefined {
  for (const container of containersOf(pod)) {
    const waiting = at(container, "state", "waiting");
    const ended = at(container, "state", "terminated") ?? at(container, "lastState", "terminated");
    if (waiting !== undefined && !isStarting(at(waiting, "reason")))
      return `container ${String(container.name)}: ${text(at(waiting, "reason"), at(waiting, "message"))}${exitText(ended)}`;
    if (at(container, "state", "terminated") !== undefined && at(ended, "exitCode") !== 0)
      return `container ${String(container.name)} has ended${exitText(ended)}`;
  }
  return undefined;
}

function exitText(ended: JsonValue | undefined): string {
  const [code, reason, message] = ["exitCode", "reason", "message"].map((field) => at(ended, field));
  return code === undefined
    ? ""
    : `, exit code ${String(code)}${[reason, message]
        .map((part) => text(part))
        .filter(Boolean)
        .map((part) => `, ${part}`)
        .join("")}`;
}

function lastWarning(events: readonly JsonObject[]): string | undefined {
  const time = (event: JsonObject): string => String(event.lastTimestamp ?? event.eventTime ?? "");
  const [last] = events
    .filter(({ type }) => type === "Warning")
    .toSorted((one, other) => (time(one) < time(other) ? 1 : -1));
  return last && text(last.reason, last.message);
}

function unreadyContainer(pod: JsonObject): string {
  const unready = containersOf(pod).filter(({ ready }) => ready !== true);
  return unready.length === 0
    ? `phase ${String(at(pod, "status", "phase") ?? "Pending")}`
    : `not ready: ${unready.map(({ name }) => `container ${String(name)}`).join(", ")}`;
}
