import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, scheduleOf } from "./campaign.ts";
import { printFaults } from "./faults/index.ts";

const seeds = 100;

test(`${seeds} random schedules break no promise`, async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const schedule = await scheduleOf(seed);
    const { violations, trace } = await judged(schedule);
    const { scenario, faults } = schedule;
    const how = `npm run sim -- --seed ${seed} --scenario ${scenario.name} --plan ${printFaults(faults)}`;
    assert.deepEqual(violations, [], `${how}\n${violations.length > 0 ? trace().join("\n") : ""}`);
  }
});

test("one seed is one history, byte for byte", async () => {
  for (const seed of [3, 16, 77]) {
    const [first, second] = [await judged(await scheduleOf(seed)), await judged(await scheduleOf(seed))];
    assert.equal(first.digest(), second.digest());
    assert.ok(first.entries.length > 50);
  }
});
