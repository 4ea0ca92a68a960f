/**
 * Prometheus metrics. Each component declares a table, `createMetrics` turns tables into instruments on a registry of
 * its own: two components in one process, or two tests, never share a count. Instruments only do arithmetic: nothing
 * that measures can wait, fail a reconcile, or be held up by a scrape.
 */
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";

export interface MetricRow {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, for a histogram. */
  readonly buckets?: readonly number[];
}

export type MetricTable = Readonly<Record<string, MetricRow>>;

type Labels<Row extends MetricRow> = Readonly<Record<Row["labels"][number], string>>;

interface InstrumentTypes<Row extends MetricRow> {
  counter: { add(labels: Labels<Row>, amount?: number): void };
  gauge: { set(labels: Labels<Row>, value: number): void; add(labels: Labels<Row>, amount: number): void };
  histogram: { observe(labels: Labels<Row>, value: number): void };
}

export type Instruments<T extends MetricTable> = { readonly [K in keyof T]: InstrumentTypes<T[K]>[T[K]["type"]] };

export interface Metrics {
  /** Instruments for the rows of a table; a row asked for twice gives the same instrument, also in another table. */
  instruments<const T extends MetricTable>(table: T): Instruments<T>;
  /** The text Prometheus reads, and its content type. `refresh` functions run first. */
  scrape(): Promise<{ readonly type: string; readonly text: string }>;
  /** Called at each scrape, for gauges that are cheaper to look up than to keep. */
  refresh(update: () => void): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const made = new Map<MetricRow, Instrument>();
  const updates: (() => void)[] = [];
  return {
    instruments<const T extends MetricTable>(table: T): Instruments<T> {
      const instrumentOf = (row: MetricRow): Instrument => {
        const instrument = made.get(row) ?? makers[row.type](row, registry);
        made.set(row, instrument);
        return instrument;
      };
      return Object.fromEntries(Object.entries(table).map(([key, row]) => [key, instrumentOf(row)])) as Instruments<T>;
    },
    async scrape() {
      for (const update of updates) attempt(update);
      return { type: registry.contentType, text: await registry.metrics() };
    },
    refresh: (update) => void updates.push(update),
  };
}

type Instrument = ReturnType<(typeof makers)[keyof typeof makers]>;

const options = ({ name, help, labels }: MetricRow, registry: Registry) => ({
  name,
  help,
  labelNames: [...labels],
  registers: [registry],
});

const makers = {
  counter: (row: MetricRow, registry: Registry) => {
    const counter = new Counter(options(row, registry));
    return { add: (labels: Labels<MetricRow>, amount = 1) => attempt(() => counter.inc(labels, amount)) };
  },
  gauge: (row: MetricRow, registry: Registry) => {
    const gauge = new Gauge(options(row, registry));
    return {
      set: (labels: Labels<MetricRow>, value: number) => attempt(() => gauge.set(labels, value)),
      add: (labels: Labels<MetricRow>, amount: number) => attempt(() => gauge.inc(labels, amount)),
    };
  },
  histogram: (row: MetricRow, registry: Registry) => {
    const buckets = row.buckets === undefined ? {} : { buckets: [...row.buckets] };
    const histogram = new Histogram({ ...options(row, registry), ...buckets });
    return { observe: (labels: Labels<MetricRow>, value: number) => attempt(() => histogram.observe(labels, value)) };
  },
} as const;

/** A wrong label or a negative count is our mistake, but never a reason to fail the work that was being measured. */
function attempt(measure: () => void): void {
  try {
    measure();
  } catch {
    // Nothing to do: the sample is lost, the work goes on.
  }
}

const exponential = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Number((start * factor ** index).toPrecision(12)));

/** Names, labels and buckets are those of client-go's workqueue, so that existing dashboards and alerts go on working. */
export const queueMetrics = {
  depth: { type: "gauge", name: "workqueue_depth", help: "Keys that wait in the queue.", labels: ["name"] },
  adds: { type: "counter", name: "workqueue_adds_total", help: "Keys added to the queue.", labels: ["name"] },
  waited: {
    type: "histogram",
    name: "workqueue_queue_duration_seconds",
    help: "Time from when a key was due until its reconcile started.",
    labels: ["name"],
    buckets: exponential(1e-8, 10, 10),
  },
  worked: {
    type: "histogram",
    name: "workqueue_work_duration_seconds",
    help: "Duration of one reconcile of a key.",
    labels: ["name"],
    buckets: exponential(1e-8, 10, 10),
  },
  unfinished: {
    type: "gauge",
    name: "workqueue_unfinished_work_seconds",
    help: "Sum of the ages of all running reconciles; a steady rise means a stuck reconcile.",
    labels: ["name"],
  },
  longest: {
    type: "gauge",
    name: "workqueue_longest_running_processor_seconds",
    help: "Age of the oldest running reconcile.",
    labels: ["name"],
  },
  retries: {
    type: "counter",
    name: "workqueue_retries_total",
    help: "Reconciles that failed and were requeued with a delay.",
    labels: ["name"],
  },
} as const satisfies MetricTable;

/** What is stuck in a cluster, by cause. The reasons are those of src/api/reasons.ts and no others. */
export const waitingMetrics = {
  objects: {
    type: "gauge",
    name: "snapkeep_waiting_objects",
    help: "Objects that wait, by component and reason.",
    labels: ["component", "reason"],
  },
  longest: {
    type: "gauge",
    name: "snapkeep_longest_wait_seconds",
    help: "For how long one of these objects has been on its way, whatever it waited for before; counted from the start of the process.",
    labels: ["component", "reason"],
  },
} as const satisfies MetricTable;

/** As client-go's rest client names them. */
export const requestMetrics = {
  requests: {
    type: "counter",
    name: "rest_client_requests_total",
    help: "Requests to the API server, by status code, method and host.",
    labels: ["code", "method", "host"],
  },
  seconds: {
    type: "histogram",
    name: "rest_client_request_duration_seconds",
    help: "Duration of requests to the API server, by verb and host.",
    labels: ["verb", "host"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  },
} as const satisfies MetricTable;

export const leaderMetrics = {
  status: {
    type: "gauge",
    name: "leader_election_master_status",
    help: "1 while this process holds the lease, else 0.",
    labels: ["name"],
  },
  slow: {
    type: "counter",
    name: "leader_election_slowpath_total",
    help: "Renewals of the lease that took two requests, because the previous renewal had failed and the lease had to be read first.",
    labels: ["name"],
  },
} as const satisfies MetricTable;
