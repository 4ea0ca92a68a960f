/** A pod's columns: its status is the story of its containers, told in a word. */
import { isObject, type JsonObject } from "../../base/json.ts";
import { ageSince } from "../age.ts";
import type { ApiObject, Column } from "../contracts.ts";
import { ageColumn, at, column, conditionOf, listAt, nameColumn, numberAt, or, textAt, wide } from "./basic.ts";

interface Told {
  reason: string;
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string;
}

const statusesIn = (pod: ApiObject, field: string): readonly JsonObject[] =>
  listAt(pod, "status", field).filter(isObject);
const isTrue = (pod: ApiObject, type: string): boolean => conditionOf(pod, type)?.status === "True";

/** An init container that keeps running beside the others. */
const restartable = (pod: ApiObject, name: string): boolean =>
  listAt(pod, "spec", "initContainers").some(
    (container) => textAt(container, "name") === name && textAt(container, "restartPolicy") === "Always",
  );

function countRestarts(told: Told, status: JsonObject): void {
  told.restarts += numberAt(status, "restartCount");
  const finished = textAt(status, "lastState", "terminated", "finishedAt");
  if (finished > told.lastRestart) told.lastRestart = finished;
}

function ending(terminated: JsonObject): string {
  const reason = textAt(terminated, "reason");
  if (reason !== "") return reason;
  const signal = numberAt(terminated, "signal");
  return signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode")}` : `Signal:${signal}`;
}

/** Tells of the first init container that is not done; returns whether there is one. */
function tellInit(pod: ApiObject, told: Told): boolean {
  const all = listAt(pod, "spec", "initContainers").length;
  for (const [index, status] of statusesIn(pod, "initContainerStatuses").entries()) {
    countRestarts(told, status);
    const terminated = at(status, "state", "terminated");
    if (isObject(terminated) && numberAt(terminated, "exitCode") === 0) continue;
    if (restartable(pod, textAt(status, "name")) && status.started === true) {
      if (status.ready === true) told.ready += 1;
      continue;
    }
    const waiting = textAt(status, "state", "waiting", "reason");
    if (isObject(terminated)) told.reason = `Init:${ending(terminated)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") told.reason = `Init:${waiting}`;
    else told.reason = `Init:${index}/${all}`;
    return true;
  }
  return false;
}

function tellContainers(pod: ApiObject, told: Told): void {
  const beside = statusesIn(pod, "initContainerStatuses").filter((status) => restartable(pod, textAt(status, "name")));
  told.restarts = 0;
  told.lastRestart = "";
  for (const status of beside) countRestarts(told, status);
  let running = false;
  let failure = "";
  for (const status of [...statusesIn(pod, "containerStatuses")].reverse()) {
    countRestarts(told, status);
    const terminated = at(status, "state", "terminated");
    const waiting = textAt(status, "state", "waiting", "reason");
    if (waiting !== "") told.reason = waiting;
    else if (isObject(terminated)) {
      told.reason = ending(terminated);
      if (numberAt(terminated, "exitCode") !== 0) failure = told.reason;
    } else if (status.ready === true && isObject(at(status, "state", "running"))) {
      running = true;
      told.ready += 1;
    }
  }
  if (told.reason === "Completed") told.reason = completedReason(running, isTrue(pod, "Ready"), failure);
}

function completedReason(running: boolean, ready: boolean, failure: string): string {
  if (running && ready) return "Running";
  if (failure !== "") return failure;
  return running ? "NotReady" : "Completed";
}

function tell(pod: ApiObject): Told {
  const phase = textAt(pod, "status", "phase");
  const reason = or(textAt(pod, "status", "reason"), phase);
  const beside = listAt(pod, "spec", "initContainers").filter(
    (one) => textAt(one, "restartPolicy") === "Always",
  ).length;
  const total = listAt(pod, "spec", "containers").length + beside;
  const told: Told = { reason, ready: 0, total, restarts: 0, lastRestart: "" };
  if (conditionOf(pod, "PodScheduled")?.reason === "SchedulingGated") told.reason = "SchedulingGated";
  if (!tellInit(pod, told) || isTrue(pod, "Initialized")) tellContainers(pod, told);
  if (pod.metadata.deletionTimestamp === undefined) return told;
  if (textAt(pod, "status", "reason") === "NodeLost") told.reason = "Unknown";
  else if (phase !== "Succeeded" && phase !== "Failed") told.reason = "Terminating";
  return told;
}

function restarts(pod: ApiObject, now: number): string {
  const { restarts: times, lastRestart } = tell(pod);
  return times === 0 || lastRestart === "" ? String(times) : `${times} (${ageSince(lastRestart, now)} ago)`;
}

function readinessGates(pod: ApiObject): string {
  const gates = listAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  return `${gates.filter((gate) => isTrue(pod, textAt(gate, "conditionType"))).length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  nameColumn,
  column("Ready", (pod) => {
    const { ready, total } = tell(pod);
    return `${ready}/${total}`;
  }),
  column("Status", (pod) => tell(pod).reason),
  column("Restarts", restarts),
  ageColumn,
  wide("IP", (pod) => or(textAt(listAt(pod, "status", "podIPs")[0], "ip"), "<none>")),
  wide("Node", (pod) => or(textAt(pod, "spec", "nodeName"), "<none>")),
  wide("Nominated Node", (pod) => or(textAt(pod, "status", "nominatedNodeName"), "<none>")),
  wide("Readiness Gates", readinessGates),
];
