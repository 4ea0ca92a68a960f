/** Connects what measures itself (queues, the client) with the metrics of a process. */
import type { ReasonCode } from "../api/reasons.ts";
import type { Measure } from "../kube/call.ts";
import type { ControllerObserver } from "./controller.ts";
import type { Metrics } from "./metrics.ts";
import { queueMetrics, requestMetrics, waitingMetrics } from "./metrics.ts";
import type { QueueObserver } from "./queue.ts";

/** Of one controller of a component. */
export const controllerObserver = (metrics: Metrics, component: string, queue: string): ControllerObserver => ({
  ...queueObserver(metrics, queue),
  bindWaiting: (counts) => showWaiting(metrics, component, counts),
});

/** The controllers of a component add up: each replaces only what it has shown itself. */
function showWaiting(metrics: Metrics, component: string, counts: () => ReadonlyMap<ReasonCode, number>): void {
  const { objects } = metrics.instruments(waitingMetrics);
  const shown = new Map<ReasonCode, number>();
  metrics.refresh(() => {
    for (const [reason, count] of counts()) {
      objects.add({ component, reason }, count - (shown.get(reason) ?? 0));
      shown.set(reason, count);
    }
  });
}

export function queueObserver(metrics: Metrics, name: string): QueueObserver {
  const { depth, adds, waited, worked, unfinished, longest, retries } = metrics.instruments(queueMetrics);
  const labels = { name };
  return {
    added: () => adds.add(labels),
    started: (ms) => waited.observe(labels, ms / 1_000),
    finished: (ms) => worked.observe(labels, ms / 1_000),
    retried: () => retries.add(labels),
    bind: (stats) =>
      metrics.refresh(() => {
        const { due, runningMs } = stats();
        depth.set(labels, due);
        unfinished.set(labels, runningMs.reduce((sum, ms) => sum + ms, 0) / 1_000);
        longest.set(labels, Math.max(0, ...runningMs) / 1_000);
      }),
  };
}

export const requestMeasure =
  (metrics: Metrics) =>
  (host: string): Measure => {
    const { requests, seconds } = metrics.instruments(requestMetrics);
    return ({ method, code, ms }) => {
      requests.add({ code, method, host });
      seconds.observe({ verb: method, host }, ms / 1_000);
    };
  };
