/** Connects what measures itself (queues, the client) with the metrics of a process. */
import type { ReasonCode } from "../api/reasons.ts";
import type { Measure } from "../kube/call.ts";
import type { ControllerObserver } from "./controller.ts";
import type { Waiting } from "./decisions.ts";
import type { Metrics } from "./metrics.ts";
import { queueMetrics, requestMetrics, waitingMetrics } from "./metrics.ts";
import type { QueueObserver } from "./queue.ts";

/** For the controllers of one component, each by the name of its queue: what waits is added up. */
export function controllerObservers(metrics: Metrics, component: string): (queue: string) => ControllerObserver {
  const { objects, longest } = metrics.instruments(waitingMetrics);
  const controllers: (() => ReadonlyMap<ReasonCode, Waiting>)[] = [];
  const shown = new Set<ReasonCode>();
  const show = (): void => {
    const found = new Map<ReasonCode, Waiting>();
    for (const waiting of controllers)
      for (const [reason, { count, longestMs }] of waiting()) {
        const other = found.get(reason) ?? { count: 0, longestMs: 0 };
        found.set(reason, { count: other.count + count, longestMs: Math.max(other.longestMs, longestMs) });
        shown.add(reason);
      }
    for (const reason of shown) {
      const { count = 0, longestMs = 0 } = found.get(reason) ?? {};
      objects.set({ component, reason }, count);
      longest.set({ component, reason }, longestMs / 1_000);
    }
  };
  metrics.refresh(show);
  return (queue) => ({
    ...queueObserver(metrics, queue),
    bindWaiting: (waiting) => void controllers.push(waiting),
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
