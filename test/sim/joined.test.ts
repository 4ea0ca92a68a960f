/** csi-snapshotter and csi-provisioner in one simulated process: one end for both, and a lease for each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, scheduleOf } from "./campaign.ts";
import { parseFaults } from "./faults/index.ts";
import type { Outcome } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

const processesOf = ({ entries }: Outcome, noted: string): readonly string[] =>
  entries.flatMap((entry) => (entry.type === "note" && entry.what === noted ? [entry.process] : []));
const isSidecar = (name: string): boolean => name.startsWith("csi-");

for (const [name, seeds] of [
  ["joined-sidecars", 8],
  ["joined-sidecars-with-two-leaders", 3],
] as const)
  test(`${name}: random schedules violate no promise`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { violations, trace } = await judged(await scheduleOf(seed, { among: [scenarioNamed(name)] }));
      assert.deepEqual(violations, [], violations.length > 0 ? trace().join("\n") : "");
    }
  });

test("both die together, and start again together", async () => {
  const outcome = await judged({
    scenario: scenarioNamed("joined-sidecars"),
    seed: 1,
    faults: parseFaults("20:crash-after-effect:1,40:crash-after-effect:1,60:crash-after-effect:1"),
  });
  assert.deepEqual(outcome.violations, []);
  const crashed = processesOf(outcome, "crash").filter(isSidecar);
  assert.ok(crashed.length >= 2);
  assert.equal(crashed.filter((name) => name.startsWith("csi-snapshotter")).length, crashed.length / 2);
  assert.equal(processesOf(outcome, "start").filter(isSidecar).length, crashed.length + 2);
});

test("a controller that loses its lease takes another turn in the same process", async () => {
  const scenario = scenarioNamed("joined-sidecars-with-two-leaders");
  const faults = parseFaults("30:paused-before-sending:2,45:paused-before-sending:2,60:paused-before-sending:2");
  const outcome = await judged({ scenario, seed: 3, faults });
  assert.deepEqual(outcome.violations, []);
  assert.ok(outcome.trace().some((line) => line.includes("lost leadership")));
  assert.deepEqual(processesOf(outcome, "crash").filter(isSidecar), []);
  assert.equal(processesOf(outcome, "start").filter(isSidecar).length, 4);
});
