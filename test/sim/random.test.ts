import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, scheduleOf, shrink } from "./campaign.ts";
import { everySingleFault } from "./exhaustive.ts";
import { parseFaults } from "./faults/index.ts";
import { replayCommand } from "./replay.ts";
import type { Schedule } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

/** A first look; thousands.sim.ts runs more of both. */
const seeds = 60;
const singles = ["crash-after-effect", "reply-lost"];

async function holds(schedule: Schedule): Promise<void> {
  const { violations, trace } = await judged(schedule);
  assert.deepEqual(violations, [], `${replayCommand(schedule)}\n${violations.length > 0 ? trace().join("\n") : ""}`);
}

test(`${seeds} random schedules violate no promise`, async () => {
  for (let seed = 1; seed <= seeds; seed++) await holds(await scheduleOf(seed));
});

test("no crash and no lost reply, at any call of a create and a delete, violates a promise", async () => {
  let count = 0;
  for await (const schedule of everySingleFault([scenarioNamed("delete")], ({ name }) => singles.includes(name))) {
    await holds(schedule);
    count += 1;
  }
  assert.ok(count > 40, `only ${count} places`);
});

test("three to twenty faults strike, even in a short scenario", async () => {
  for (const name of ["namespace-deleted", "quick-delete", "claim-deleted-while-cutting"])
    for (let seed = 1; seed <= 20; seed++) {
      const { struck } = await judged(await scheduleOf(seed, { among: [scenarioNamed(name)] }));
      assert.ok(struck.length >= 3 && struck.length <= 20, `${name}, seed ${seed}: ${struck.join(", ")}`);
    }
});

test("remaining faults strike the calls of a restart, which changes nothing", async () => {
  const faults = parseFaults("900:watch-cut:1,901:http-500:2,902:csi-Internal:3");
  const outcome = await judged({ scenario: scenarioNamed("dynamic-create"), seed: 2, faults });
  assert.deepEqual(outcome.violations, []);
  assert.deepEqual(outcome.struck, ["crash-all", "watch-cut", "http-500"]);
  const rest = outcome.entries.findIndex((entry) => entry.type === "note" && entry.what === "fault");
  assert.ok(outcome.entries.slice(0, rest).some(({ type }) => type === "write"));
  assert.ok(!outcome.entries.slice(rest).some(({ type }) => type === "write"));
});

test("one seed is one history, byte for byte", async () => {
  for (const seed of [3, 16, 77]) {
    const [first, second] = [await judged(await scheduleOf(seed)), await judged(await scheduleOf(seed))];
    assert.equal(first.digest(), second.digest());
    assert.ok(first.entries.length > 30);
  }
});

test("a failing schedule is shrunk to the faults it needs", async () => {
  const schedule = await scheduleOf(5, { among: [scenarioNamed("dynamic-create")] });
  // Without its last step the driver is never asked: no fault is needed to see that.
  const sabotage = { planSidecar: (() => ({ actions: [], next: { kind: "settled" } })) as never };
  const failing = { ...schedule, sabotage: () => sabotage };
  const { violations } = await judged(failing);
  const small = await shrink(failing, violations[0]?.id ?? "");
  assert.ok(schedule.faults.length >= 3);
  assert.deepEqual(small.faults, []);
});
