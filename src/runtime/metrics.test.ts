import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import type { Key } from "../base/brand.ts";
import { queueObserver, requestMeasure } from "./measure.ts";
import { createMetrics, queueMetrics, requestMetrics } from "./metrics.ts";
import { measureProcess, processMetrics } from "./process-metrics.ts";
import { createQueue } from "./queue.ts";
import { statusPages } from "./status-pages.ts";

const key = "team/a" as Key;
const linesOf = async (metrics: ReturnType<typeof createMetrics>, start: string): Promise<string[]> =>
  (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith(start));

test("queue metrics have the names and labels of client-go", async () => {
  const world = createVirtualWorld();
  const metrics = createMetrics();
  const queue = createQueue({ world, backoff: { startMs: 1, maxMs: 1 }, observer: queueObserver(metrics, "content") });
  queue.add(key);
  queue.add("team/b" as Key);
  await world.advance(500);
  await queue.next(new AbortController().signal);
  await world.advance(2_000);
  assert.deepEqual(await linesOf(metrics, "workqueue_depth"), ['workqueue_depth{name="content"} 1']);
  assert.deepEqual(await linesOf(metrics, "workqueue_unfinished_work_seconds"), [
    'workqueue_unfinished_work_seconds{name="content"} 2',
  ]);
  assert.deepEqual(await linesOf(metrics, "workqueue_longest_running_processor_seconds"), [
    'workqueue_longest_running_processor_seconds{name="content"} 2',
  ]);
  queue.retry(key);
  queue.done(key);
  assert.deepEqual(await linesOf(metrics, "workqueue_adds_total"), ['workqueue_adds_total{name="content"} 3']);
  assert.deepEqual(await linesOf(metrics, "workqueue_retries_total"), ['workqueue_retries_total{name="content"} 1']);
  assert.deepEqual(await linesOf(metrics, "workqueue_queue_duration_seconds_sum"), [
    'workqueue_queue_duration_seconds_sum{name="content"} 0.5',
  ]);
  assert.deepEqual(await linesOf(metrics, "workqueue_work_duration_seconds_sum"), [
    'workqueue_work_duration_seconds_sum{name="content"} 2',
  ]);
  assert.deepEqual(queueMetrics.waited.buckets.map(String), [
    "1e-8",
    "1e-7",
    "0.000001",
    "0.00001",
    "0.0001",
    "0.001",
    "0.01",
    "0.1",
    "1",
    "10",
  ]);
});

test("request metrics have the names and labels of client-go", async () => {
  const metrics = createMetrics();
  const measure = requestMeasure(metrics)("10.0.0.1:6443");
  measure({ method: "PATCH", path: "/api/v1/pods/a", code: "409", ms: 30 });
  assert.deepEqual(await linesOf(metrics, "rest_client_requests_total"), [
    'rest_client_requests_total{code="409",method="PATCH",host="10.0.0.1:6443"} 1',
  ]);
  assert.deepEqual(await linesOf(metrics, "rest_client_request_duration_seconds_sum"), [
    'rest_client_request_duration_seconds_sum{verb="PATCH",host="10.0.0.1:6443"} 0.03',
  ]);
});

test("process metrics have the standard Prometheus names and are collected on scrape only", async () => {
  const metrics = createMetrics();
  measureProcess(metrics);
  const first = (await metrics.scrape()).text;
  for (const { name } of Object.values(processMetrics)) assert.match(first, new RegExp(`^${name} \\d`, "m"));
  const cpu = async () => Number((await linesOf(metrics, "process_cpu_seconds_total")).join().split(" ")[1]);
  const [before, after] = [await cpu(), await cpu()];
  assert.ok(before > 0 && after >= before && after < before + 60);
});

test("two registries share nothing, and registering one table twice gives the same metrics", async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.instruments(requestMetrics).requests.add({ code: "200", method: "GET", host: "a" });
  one.instruments(requestMetrics).requests.add({ code: "200", method: "GET", host: "a" });
  assert.equal(
    (await linesOf(one, "rest_client_requests_total")).join(),
    'rest_client_requests_total{code="200",method="GET",host="a"} 2',
  );
  assert.deepEqual(await linesOf(other, "rest_client_requests_total"), []);
});

test("an invalid sample is dropped without other effects", async () => {
  const metrics = createMetrics();
  const { requests } = metrics.instruments(requestMetrics);
  requests.add({ code: "200", method: "GET", host: "a" }, -1);
  requests.add({ wrong: "label" } as never);
  metrics.refresh(() => {
    throw new Error("no");
  });
  assert.deepEqual(await linesOf(metrics, "rest_client_requests_total"), []);
});

const pages = (more: Partial<Parameters<typeof statusPages>[0]> = {}) => {
  const handler = statusPages({
    metrics: createMetrics(),
    metricsPath: "/metrics",
    ready: () => undefined,
    health: {},
    ...more,
  });
  return async (path: string, method = "GET") => {
    const { status, body } = await handler({ method, path, headers: {} });
    return `${status} ${String(body).trim()}`;
  };
};

test("health is ok until one check fails, with the reason of the check", async () => {
  let problem: string | undefined;
  const ask = pages({ health: { "leader-election": () => problem, other: () => undefined } });
  for (const path of ["/healthz", "/healthz/leader-election", "/healthz/other", "/readyz"])
    assert.equal(await ask(path), "200 ok");
  problem = "the lease is lost";
  assert.equal(await ask("/healthz"), "500 leader-election: the lease is lost");
  assert.equal(await ask("/healthz/leader-election?verbose"), "500 leader-election: the lease is lost");
  assert.equal(await ask("/healthz/other"), "200 ok");
});

test("readiness has its own reason", async () =>
  assert.equal(
    await pages({ ready: () => "waiting for the API server" })("/readyz"),
    "500 ready: waiting for the API server",
  ));

test("metrics are served at --metrics-path, and other paths list the existing ones", async () => {
  const ask = pages({ metricsPath: "/stats" });
  assert.match(await ask("/stats"), /^200/);
  assert.equal(await ask("/metrics"), "404 there is /stats, /healthz, /readyz");
  assert.equal(await ask("/stats", "POST"), "405 only GET");
});
