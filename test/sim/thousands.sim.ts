/** What takes minutes: `npm test` runs it after the unit tests, on all cores. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { after, before, describe, test } from "node:test";
import { scheduleOf } from "./campaign.ts";
import { everySingleFault } from "./exhaustive.ts";
import { replayCommand } from "./replay.ts";
import type { Schedule } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";
import { createWorkerPool, type WorkerPool } from "./workers.ts";

const seeds = 1_000;
const crowdSeeds = 3;
const singlesMin = 13_000;
/** On a machine that is busy with other things it takes several times as long. */
const patience = { timeout: 1_200_000 };

async function* randomSchedules(): AsyncGenerator<Schedule> {
  for (let seed = 1; seed <= seeds; seed++) yield scheduleOf(seed);
}

async function* crowds(): AsyncGenerator<Schedule> {
  const scenario = scenarioNamed("hundred-at-once");
  yield { scenario, seed: 1, faults: [] };
  for (let seed = 1; seed <= crowdSeeds; seed++) yield scheduleOf(seed, { among: [scenario] });
}

describe("thousands of schedules, on all cores", () => {
  let pool: WorkerPool;
  before(() => {
    pool = createWorkerPool(availableParallelism());
  });
  after(() => pool.dismiss());

  /** How many were judged; every violation is a failure that names the command to repeat it. */
  async function allHold(schedules: AsyncGenerator<Schedule>): Promise<number> {
    const broken: string[] = [];
    let count = 0;
    await pool.judge({
      schedules,
      take: (schedule, { violations }) => {
        count += 1;
        for (const { id, text } of violations) broken.push(`${id}: ${text}; repeat it with ${replayCommand(schedule)}`);
        return broken.length === 0;
      },
    });
    assert.deepEqual(broken, []);
    return count;
  }

  test(`${seeds} random schedules violate no promise`, patience, async () => {
    assert.equal(await allHold(randomSchedules()), seeds);
  });

  test("a hundred concurrent snapshots of one claim violate no promise", patience, async () => {
    assert.equal(await allHold(crowds()), crowdSeeds + 1);
  });

  test("no single fault, at any call of the core scenarios, violates a promise", patience, async () => {
    const count = await allHold(everySingleFault());
    assert.ok(count > singlesMin, `only ${count} places`);
  });
});
