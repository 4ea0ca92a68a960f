import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject } from "../contracts.ts";
import { columnsFor } from "./index.ts";

const now = Date.parse("2026-01-01T00:01:00Z");
const shown = (group: string, kind: string, object: JsonObject): Readonly<Record<string, unknown>> => {
  const whole = { metadata: { name: "x", creationTimestamp: "2026-01-01T00:00:00Z" }, ...object } as ApiObject;
  return Object.fromEntries(columnsFor(group, kind).map(({ name, cell }) => [name, cell(whole, now)]));
};

test("a kind without printer columns shows name and age", () => {
  assert.deepEqual(shown("x", "Unknown", {}), { Name: "x", "Created At": "2026-01-01T00:00:00Z" });
});

test("a claim shows the volume's size only when it is bound", () => {
  const spec = { storageClassName: "fast", accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem" };
  const status = { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
  assert.deepEqual(shown("", "PersistentVolumeClaim", { spec: { ...spec, volumeName: "pv" }, status }), {
    Name: "x",
    Status: "Bound",
    Volume: "pv",
    Capacity: "1Gi",
    "Access Modes": "RWO",
    StorageClass: "fast",
    VolumeAttributesClass: "<unset>",
    Age: "60s",
    VolumeMode: "Filesystem",
  });
  const { Capacity, "Access Modes": modes } = shown("", "PersistentVolumeClaim", {
    spec,
    status: { phase: "Pending" },
  });
  assert.deepEqual([Capacity, modes], ["", ""]);
});

const pods: readonly (readonly [given: string, pod: JsonObject, status: string, ready: string])[] = [
  ["only a phase", { spec: { containers: [{}] }, status: { phase: "Pending" } }, "Pending", "0/1"],
  [
    "a running container",
    {
      spec: { containers: [{}] },
      status: { phase: "Running", containerStatuses: [{ ready: true, state: { running: {} } }] },
    },
    "Running",
    "1/1",
  ],
  [
    "a container that waits",
    {
      spec: { containers: [{}] },
      status: { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ErrImagePull" } } }] },
    },
    "ErrImagePull",
    "0/1",
  ],
  [
    "a container that failed without a word",
    {
      spec: { containers: [{}] },
      status: { phase: "Failed", containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] },
    },
    "ExitCode:3",
    "0/1",
  ],
  [
    "an init container at work",
    {
      spec: { containers: [{}], initContainers: [{}, {}] },
      status: { phase: "Pending", initContainerStatuses: [{ state: { running: {} } }] },
    },
    "Init:0/2",
    "0/1",
  ],
  [
    "a deletion under way",
    {
      metadata: { name: "x", deletionTimestamp: "2026-01-01T00:00:00Z" },
      spec: { containers: [{}] },
      status: { phase: "Running" },
    },
    "Terminating",
    "0/1",
  ],
];
for (const [given, pod, status, ready] of pods)
  test(`a pod with ${given} is shown as ${status}, ${ready}`, () => {
    const row = shown("", "Pod", pod);
    assert.deepEqual([row.Status, row.Ready], [status, ready]);
  });

test("the default storage class is marked (default) beside its name", () => {
  const metadata = { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } };
  const { Name, ReclaimPolicy } = shown("storage.k8s.io", "StorageClass", { metadata });
  assert.deepEqual([Name, ReclaimPolicy], ["fast (default)", "Delete"]);
});

test("both event kinds have the same columns", () => {
  const core = shown("", "Event", {
    type: "Normal",
    reason: "Made",
    involvedObject: { kind: "Pod", name: "p" },
    message: " done ",
    lastTimestamp: "2026-01-01T00:00:30Z",
    count: 2,
  });
  const modern = shown("events.k8s.io", "Event", {
    type: "Normal",
    reason: "Made",
    regarding: { kind: "Pod", name: "p" },
    note: " done ",
    deprecatedLastTimestamp: "2026-01-01T00:00:30Z",
    deprecatedCount: 2,
  });
  assert.deepEqual(core, modern);
  assert.deepEqual([core.Object, core.Message, core["Last Seen"], core.Count], ["pod/p", "done", "30s", 2]);
});
