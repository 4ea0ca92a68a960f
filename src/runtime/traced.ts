/** At verbosity 5 each request that changes something is a line of log, with how long it took. Below, nothing is added to a request. */
import { type Log, traceVerbosity } from "../base/log.ts";
import type { Measure } from "../kube/call.ts";

export const traced = (log: Log, measure?: Measure): Measure | undefined =>
  log.verbosity < traceVerbosity
    ? measure
    : (measurement) => {
        measure?.(measurement);
        const { method, path, code, ms } = measurement;
        if (method !== "GET") log.trace("api write finished", { method, path, code, tookMs: Math.round(ms) });
      };
