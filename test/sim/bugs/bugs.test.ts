import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, scheduleOf } from "../campaign.ts";
import { scenarioNamed } from "../scenarios.ts";
import type { Bug } from "./bug.ts";
import { bugs } from "./index.ts";

/** The first seed that shows the bug, and what it shows. */
async function firstSign({ scenario, seedsMax, sabotage }: Bug): Promise<{ seed: number; ids: readonly string[] }> {
  for (let seed = 1; seed <= seedsMax; seed++) {
    const schedule = await scheduleOf(seed, { among: [scenarioNamed(scenario)] });
    const { violations } = await judged({ ...schedule, sabotage });
    if (violations.length === 0) continue;
    const { violations: without } = await judged(schedule);
    assert.deepEqual(without, [], "the same schedule without the bug is found good");
    return { seed, ids: violations.map(({ id }) => id) };
  }
  return { seed: seedsMax, ids: [] };
}

for (const bug of bugs)
  test(`a component that ${bug.name} (${bug.source}) is detected within ${bug.seedsMax} seeds`, async () => {
    const { seed, ids } = await firstSign(bug);
    assert.ok(
      ids.some((id) => bug.breaks.includes(id)),
      `seed ${seed} shows ${ids.join(", ") || "nothing"}`,
    );
  });

test("the table has at least 20 seeded bugs", () => assert.ok(bugs.length >= 20));
