/**
 * The `process_*` metrics every Prometheus client has, read when asked for. prom-client's own collector is not used: it
 * samples the event loop every ten milliseconds, which keeps an idle component from ever being idle.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Metrics, MetricTable } from "./metrics.ts";

export const processMetrics = {
  cpu: { type: "counter", name: "process_cpu_seconds_total", help: "CPU time used, user and system.", labels: [] },
  start: {
    type: "gauge",
    name: "process_start_time_seconds",
    help: "When the process started, Unix time.",
    labels: [],
  },
  resident: { type: "gauge", name: "process_resident_memory_bytes", help: "Resident memory.", labels: [] },
  heap: { type: "gauge", name: "nodejs_heap_size_used_bytes", help: "JavaScript heap in use.", labels: [] },
  external: {
    type: "gauge",
    name: "nodejs_external_memory_bytes",
    help: "Memory held outside of the JavaScript heap.",
    labels: [],
  },
  files: { type: "gauge", name: "process_open_fds", help: "Open file descriptors.", labels: [] },
  filesMax: { type: "gauge", name: "process_max_fds", help: "Most file descriptors the process may open.", labels: [] },
} as const satisfies MetricTable;

export function measureProcess(metrics: Metrics): void {
  const { cpu, start, resident, heap, external, files, filesMax } = metrics.instruments(processMetrics);
  let countedSeconds = 0;
  start.set({}, performance.timeOrigin / 1_000);
  metrics.refresh(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.add({}, seconds - countedSeconds);
    countedSeconds = seconds;
    const memory = process.memoryUsage();
    resident.set({}, memory.rss);
    heap.set({}, memory.heapUsed);
    external.set({}, memory.external);
    // Only Linux tells; elsewhere the two metrics are absent, as in other Prometheus clients.
    files.set({}, readdirSync("/proc/self/fd").length);
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (most !== undefined) filesMax.set({}, Number(most));
  });
}
