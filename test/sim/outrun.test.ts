/** A delete that wins against the finalizers: what was made for the snapshot meanwhile must not stay. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, scheduleOf } from "./campaign.ts";
import type { Family } from "./faults/index.ts";
import { runOne } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

const seeds = 40;
const scenario = { ...scenarioNamed("delete-outruns-finalizers"), repeatable: () => true };
/** Not those that end the one process that knows, or keep it from knowing. */
const families: readonly Family[] = ["reply", "http", "csi", "storage", "clock"];

test(`a snapshot deleted before it gets its finalizers leaves nothing behind, in ${seeds} schedules without a crash`, async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const schedule = await scheduleOf(seed, { among: [scenario], allowed: ({ family }) => families.includes(family) });
    const { violations, trace } = await judged(schedule);
    assert.deepEqual(violations, [], `seed ${seed}\n${violations.length > 0 ? trace().join("\n") : ""}`);
  }
});

test("without the rule for contents without a snapshot, content and data would be left behind", async () => {
  const nothing = () => ({ actions: [], next: { kind: "settled" } }) as const;
  const kept = await runOne({ scenario, seed: 1, faults: [], sabotage: () => ({ planContent: nothing }) });
  assert.match(kept.endState(), /^VolumeSnapshotContent .*^stored /ms);
  const mended = await runOne({ scenario, seed: 1, faults: [] });
  assert.doesNotMatch(mended.endState(), /VolumeSnapshotContent|stored/);
});
