import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../../test/builders.ts";
import { planTester, type ReasonedCase } from "../../../../test/plan-cases.ts";
import { aStorageClass, nowMs } from "../../../../test/volume-plans.ts";
import type { CSIStorageCapacity } from "../../../api/types.ts";
import { capacityKey, segmentText } from "./key.ts";
import { type CapacityAnswer, noCapacityMemory } from "./memory.ts";
import type { CapacityFacts, CapacityView, Publisher } from "./observe.ts";
import { capacityPhaseOf } from "./phase.ts";
import { type CapacityAction, planCapacity } from "./plan.ts";

const segments = { zone: "a" };
const storageClass = aStorageClass();
const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "driver", uid: "u-owner", controller: true };
const former = { ...owner, name: "former", uid: "u-former" };
const bystander = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "u-other" };
const publisher: Publisher = { driver, namespace: "drivers", managedBy: "external-provisioner", owner };
const answer: CapacityAnswer = { classUid: storageClass.metadata.uid, bytes: 2n ** 30n, maximumBytes: undefined };

const anObject = (
  change: Partial<CSIStorageCapacity> = {},
  metadata: Partial<CSIStorageCapacity["metadata"]> = {},
): CSIStorageCapacity => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIStorageCapacity",
  metadata: {
    name: "csisc-1",
    namespace: "drivers",
    uid: "u-1",
    resourceVersion: "7",
    ownerReferences: [owner],
    ...metadata,
  },
  storageClassName: storageClass.metadata.name,
  nodeTopology: { matchLabels: segments },
  capacity: "1Gi",
  ...change,
});

const aView = (facts: Partial<CapacityFacts> = {}, answered: CapacityAnswer | undefined = answer): CapacityView => ({
  facts: {
    key: capacityKey(storageClass.metadata.name, segmentText(segments)),
    segments,
    storageClass,
    objects: [anObject()],
    publisher,
    ...facts,
  },
  memory: { answer: answered, answerLeftMs: answered === undefined ? 0 : 5_000 },
  nowMs,
});
const unasked = (facts: Partial<CapacityFacts>): CapacityView => ({
  ...aView(facts),
  memory: noCapacityMemory,
});
const written = (action: CapacityAction | undefined): CSIStorageCapacity => {
  assert.ok(action?.kind === "create" || action?.kind === "replace");
  return action.object as CSIStorageCapacity;
};
const double = anObject({}, { name: "csisc-2", uid: "u-2" });

const testCapacityPlans: (cases: readonly ReasonedCase<CapacityView>[]) => void = planTester<
  CapacityView,
  CapacityAction
>({
  phaseOf: capacityPhaseOf,
  plan: planCapacity,
  brief: (action) => (action.kind === "ask" ? "ask" : `${action.kind} ${action.ref.name}`.trim()),
});
testCapacityPlans([
  {
    given: "a new segment",
    view: unasked({ objects: [] }),
    phase: "unasked",
    reason: "WaitsForDriver",
    expect: ["ask"],
  },
  {
    given: "an object of the replaced provisioner",
    view: unasked({}),
    phase: "unasked",
    reason: "WaitsForDriver",
    expect: ["ask"],
  },
  { given: "an answer", view: aView({ objects: [] }), phase: "unpublished", reason: "Writes", expect: ["create"] },
  { given: "an object that says the same", view: aView(), phase: "current", reason: "Settled", expect: [] },
  {
    given: "an object that says the same in other words",
    view: aView({ objects: [anObject({ capacity: "1048576Ki" })] }),
    phase: "current",
    reason: "Settled",
    expect: [],
  },
  {
    given: "less room than is published",
    view: aView({}, { ...answer, bytes: 5n }),
    phase: "outdated",
    reason: "Writes",
    expect: ["replace csisc-1"],
  },
  {
    given: "an object that somebody has changed to what is no quantity",
    view: aView({ objects: [anObject({ capacity: "much" })] }),
    phase: "outdated",
    reason: "Writes",
    expect: ["replace csisc-1"],
  },
  {
    given: "a driver that names a largest volume",
    view: aView({}, { ...answer, maximumBytes: 0n }),
    phase: "outdated",
    reason: "Writes",
    expect: ["replace csisc-1"],
  },
  {
    given: "a driver that names no largest volume any more",
    view: aView({ objects: [anObject({ maximumVolumeSize: "1Gi" })] }),
    phase: "outdated",
    reason: "Writes",
    expect: ["replace csisc-1"],
  },
  {
    given: "an object of another owner",
    view: aView({ objects: [anObject({}, { ownerReferences: [former] })] }),
    phase: "outdated",
    reason: "Writes",
    expect: ["replace csisc-1"],
  },
  {
    given: "an object of another owner where none is wanted",
    view: aView({
      objects: [anObject({}, { ownerReferences: [former] })],
      publisher: { ...publisher, owner: undefined },
    }),
    phase: "current",
    reason: "Settled",
    expect: [],
  },
  {
    given: "two objects about the same",
    view: aView({ objects: [anObject(), double] }),
    phase: "current",
    reason: "Writes",
    expect: ["delete csisc-2"],
  },
  {
    given: "two objects and no answer",
    view: unasked({ objects: [anObject(), double] }),
    phase: "unasked",
    reason: "WaitsForDriver",
    expect: ["delete csisc-2", "ask"],
  },
  {
    given: "an answer for another class of the name",
    view: aView({}, { ...answer, classUid: "u-former-class" }),
    phase: "unasked",
    reason: "WaitsForDriver",
    expect: ["ask"],
  },
  {
    given: "a segment that no node has any more",
    view: aView({ segments: undefined, objects: [anObject(), double] }),
    phase: "unwanted",
    reason: "Writes",
    expect: ["delete csisc-1", "delete csisc-2"],
  },
  {
    given: "a class that is gone",
    view: aView({ storageClass: undefined }),
    phase: "unwanted",
    reason: "Writes",
    expect: ["delete csisc-1"],
  },
  {
    given: "a class that is gone, and an object that waits for its finalizers",
    view: aView({
      storageClass: undefined,
      objects: [anObject({}, { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a.example.com/b"] })],
    }),
    phase: "unwanted",
    reason: "Settled",
    expect: [],
  },
]);

test("an object is drafted as external-provisioner writes it", () => {
  const largest = { ...answer, bytes: 2n ** 63n - 1n, maximumBytes: 3n * 2n ** 20n };
  const [action] = planCapacity(aView({ objects: [] }, largest)).actions;
  assert.deepEqual(written(action), {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIStorageCapacity",
    metadata: {
      generateName: "csisc-",
      namespace: "drivers",
      labels: {
        "csi.storage.k8s.io/drivername": driver,
        "csi.storage.k8s.io/managed-by": "external-provisioner",
      },
      ownerReferences: [owner],
    },
    storageClassName: "fast",
    nodeTopology: { matchLabels: { zone: "a" } },
    capacity: "9223372036854775807",
    maximumVolumeSize: "3Mi",
  });
});

test("without an owner, an object is drafted without references, and those of an existing one stay", () => {
  const ownerless = { ...publisher, owner: undefined };
  const [created] = planCapacity(aView({ objects: [], publisher: ownerless })).actions;
  assert.equal(written(created).metadata.ownerReferences, undefined);
  const kept = anObject({ capacity: "5" }, { ownerReferences: [former] });
  const [replaced] = planCapacity(aView({ objects: [kept], publisher: ownerless })).actions;
  assert.deepEqual(written(replaced).metadata.ownerReferences, [former]);
});

test("the owner takes the place of the controlling one, beside those that control nothing", () => {
  const taken = anObject({}, { ownerReferences: [former, bystander, { ...owner, controller: false }] });
  const [replaced] = planCapacity(aView({ objects: [taken] })).actions;
  assert.deepEqual(written(replaced).metadata.ownerReferences, [bystander, owner]);
});

test("a largest volume that the driver names no more is removed, and what else the object has stays", () => {
  const labelled = anObject({ maximumVolumeSize: "1Gi" }, { labels: { a: "b" } });
  const [replaced] = planCapacity(aView({ objects: [labelled] })).actions;
  assert.deepEqual(written(replaced), anObject({}, { labels: { a: "b" } }));
});

test("the driver is asked again when its answer is too old", () => {
  assert.deepEqual(planCapacity(aView()).next, { kind: "after", ms: 5_000 });
});
