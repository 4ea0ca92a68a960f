import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../base/json.ts";
import { isPodOf, reasonOfPod } from "./pods.ts";

const labels = { app: "snapshot-controller" };
const metadata = { namespace: "snapkeep", name: "snapshot-controller-1", labels };
const podWith = (status: JsonObject, more: JsonObject = {}): JsonObject => ({
  metadata: { ...metadata, ...more },
  status,
});
const unready = { type: "Ready", status: "False" };
const container = (more: JsonObject): JsonObject => ({ name: "snapshot-controller", ready: false, ...more });
const warning = (reason: string, message: string, lastTimestamp: string): JsonObject => ({
  type: "Warning",
  reason,
  message,
  lastTimestamp,
});

const cases: readonly { given: string; pod: JsonObject; events?: readonly JsonObject[]; says: string | undefined }[] = [
  { given: "a ready pod", pod: podWith({ conditions: [{ type: "Ready", status: "True" }] }), says: undefined },
  {
    given: "a pod that ends",
    pod: podWith({ conditions: [unready] }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    says: undefined,
  },
  {
    given: "a pod that no node takes",
    pod: podWith({
      conditions: [unready, { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }],
    }),
    says: "Unschedulable: 0/3 nodes",
  },
  {
    given: "an image that cannot be pulled",
    pod: podWith({
      conditions: [unready],
      containerStatuses: [container({ state: { waiting: { reason: "ImagePullBackOff", message: "not found" } } })],
    }),
    says: "container snapshot-controller: ImagePullBackOff: not found",
  },
  {
    given: "a container that ends again and again",
    pod: podWith({
      conditions: [unready],
      containerStatuses: [
        container({
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
        }),
      ],
    }),
    says: "container snapshot-controller: CrashLoopBackOff, exit code 137, OOMKilled",
  },
  {
    given: "a container that has ended",
    pod: podWith({
      conditions: [unready],
      containerStatuses: [container({ state: { terminated: { exitCode: 2, reason: "Error" } } })],
    }),
    says: "container snapshot-controller has ended, exit code 2, Error",
  },
  {
    given: "a volume that cannot be mounted: only an event says so, and the newest counts",
    pod: podWith({
      conditions: [unready],
      containerStatuses: [container({ state: { waiting: { reason: "ContainerCreating" } } })],
    }),
    events: [
      warning("FailedMount", "secret not found", "2026-01-01T00:00:02Z"),
      warning("Other", "older", "2026-01-01T00:00:01Z"),
      { type: "Normal", reason: "Scheduled", lastTimestamp: "2026-01-01T00:00:03Z" },
    ],
    says: "FailedMount: secret not found",
  },
  {
    given: "a container that runs and is not ready",
    pod: podWith({ conditions: [unready], containerStatuses: [container({ state: { running: {} } })] }),
    says: "not ready: container snapshot-controller",
  },
  { given: "a pod of which nothing is known", pod: podWith({}), says: "phase Pending" },
];

for (const { given, pod, events = [], says } of cases)
  test(`given ${given}, its reason is ${says ?? "none"}`, () => assert.equal(reasonOfPod(pod, events), says));

test("a pod belongs to the workload of its namespace whose selector it matches", () => {
  const workload = { metadata: { namespace: "snapkeep" }, spec: { selector: { matchLabels: labels } } };
  assert.equal(isPodOf(podWith({}), workload), true);
  assert.equal(isPodOf(podWith({}, { namespace: "other" }), workload), false);
  assert.equal(isPodOf(podWith({}, { labels: { app: "other" } }), workload), false);
  assert.equal(isPodOf(podWith({}), { metadata: { namespace: "snapkeep" }, spec: {} }), false);
});
