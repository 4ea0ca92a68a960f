/** A content whose snapshot and class are gone while the outcome of CreateSnapshot is unknown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations, finalizers } from "../../src/api/names.ts";
import { driver } from "./backend.ts";
import type { Sabotage } from "./components.ts";
import { aBoundClaim } from "./fixtures.ts";
import { type Outcome, runOne } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

const uid = "e8522e2c-b29c-47da-b7f8-47cd6e24d190";
const content = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: {
    name: `snapcontent-${uid}`,
    finalizers: [finalizers.contentBound],
    annotations: { [annotations.beingCreated]: "yes" },
  },
  spec: {
    driver,
    deletionPolicy: "Delete",
    source: { volumeHandle: "vol-data" },
    volumeSnapshotClassName: "gone",
    volumeSnapshotRef: { namespace: "default", name: "monday", uid },
  },
};
const scenario = {
  ...scenarioNamed("dynamic-create"),
  objects: [...aBoundClaim("data"), content],
  script: async () => undefined,
};
const afterwards = (sabotage: Sabotage = {}): Promise<Outcome> =>
  runOne({ scenario, seed: 1, faults: [], sabotage: () => sabotage });

test("the outcome of CreateSnapshot is resolved without the class, because no user is left to restore the class", async () => {
  const { violations, endState } = await afterwards();
  assert.deepEqual(violations, []);
  assert.doesNotMatch(endState(), /being-created/);
  assert.match(endState(), /"ready":true.*^stored handle-/ms);
});

test("without the rule for contents without a snapshot, the being-created annotation would stay forever", async () => {
  const nothing = () => ({ actions: [], next: { kind: "settled" } }) as const;
  const { violations } = await afterwards({ planContent: nothing });
  assert.deepEqual(
    violations.map(({ id }) => id),
    ["I-17"],
  );
});
