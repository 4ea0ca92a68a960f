import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../base/json.ts";
import { rolloutProblem } from "./rollout-problem.ts";

const done = { observedGeneration: 2, updatedReplicas: 2, availableReplicas: 2, replicas: 2 };
const deployment = (status: JsonObject, spec: JsonObject = { replicas: 2 }): JsonObject => ({
  kind: "Deployment",
  metadata: { generation: 2 },
  spec,
  status,
});
const onNodes = { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 };
const daemonSet = (status: JsonObject): JsonObject => ({
  kind: "DaemonSet",
  metadata: { generation: 2 },
  spec: {},
  status,
});

const cases: readonly (readonly [string, JsonObject | undefined, string | undefined])[] = [
  ["nothing", undefined, "does not exist"],
  ["all pods", deployment(done), undefined],
  ["an old status", deployment({ ...done, observedGeneration: 1 }), "not seen by its controller yet"],
  ["no status", deployment({}), "not seen by its controller yet"],
  ["an old pod in place of a new one", deployment({ ...done, updatedReplicas: 1 }), "1 of 2 pods are of this version"],
  ["no new pod", { ...deployment({}), metadata: {} }, "0 of 2 pods are of this version"],
  ["a pod that is not ready", deployment({ ...done, availableReplicas: 1 }), "1 of 2 pods are ready"],
  ["old pods beside the new ones", deployment({ ...done, replicas: 3 }), "1 old pods have not ended"],
  ["no pods wanted", deployment({ observedGeneration: 2 }, { replicas: 0 }), undefined],
  ["a pod on each node", daemonSet(onNodes), undefined],
  ["a node without a new pod", daemonSet({ ...onNodes, updatedNumberScheduled: 2 }), "2 of 3 pods are of this version"],
  ["a node whose pod is not ready", daemonSet({ ...onNodes, numberAvailable: 2 }), "2 of 3 pods are ready"],
];
for (const [given, object, problem] of cases)
  test(`given ${given}, then the rollout ${problem === undefined ? "is done" : `waits: ${problem}`}`, () => {
    assert.equal(rolloutProblem(object), problem);
  });
