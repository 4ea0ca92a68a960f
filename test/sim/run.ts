/**
 * `npm run sim -- --seeds 10000 [--seed N] [--scenario NAME] [--faults FAMILY,…|name,…] [--plan at:name:pick,…] [--exhaustive] [--minutes N] [--workers N]`
 * Runs schedules, one process per core, and reports. A failing seed is shrunk and printed with the command that repeats it.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { judged, scheduleOf, shrink } from "./campaign.ts";
import { type Finding, judgeAll } from "./crew.ts";
import { everyCrashPair, everySingleFault } from "./exhaustive.ts";
import { type FaultRow, families, faultNamed, parseFaults } from "./faults/index.ts";
import { monitors } from "./monitors/index.ts";
import { replayCommand } from "./replay.ts";
import type { Schedule } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";
import { createTally } from "./tally.ts";

// Thousands of faults are thrown on purpose: nobody reads their stacks.
Error.stackTraceLimit = 0;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    scenario: { type: "string" },
    faults: { type: "string" },
    plan: { type: "string" },
    exhaustive: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
    failures: { type: "string", default: "5" },
    /** Stop and report after so long. */
    minutes: { type: "string", default: "1440" },
    /** Processes that judge; 0 uses this one. */
    workers: { type: "string", default: String(availableParallelism()) },
  },
});

const words = values.faults?.split(",");
const allowed = (row: FaultRow): boolean =>
  words === undefined || words.includes(row.family) || words.includes(row.name);
for (const word of words ?? []) if (!families.some((family) => family === word)) faultNamed(word);
const scenario = values.scenario === undefined ? undefined : scenarioNamed(values.scenario);

async function* schedules(): AsyncGenerator<Schedule> {
  if (values.exhaustive) {
    yield* everySingleFault(scenario, allowed);
    yield* everyCrashPair(scenario);
    return;
  }
  const first = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  for (let seed = first; seed < first + count; seed++) {
    const schedule = await scheduleOf(seed, { scenario, allowed });
    yield values.plan === undefined ? schedule : { ...schedule, faults: parseFaults(values.plan) };
  }
}

async function explain(schedule: Schedule, { violations }: Finding): Promise<void> {
  const [first] = violations;
  if (first === undefined) return;
  const small = await shrink(schedule, first.id);
  const { trace, violations: left } = await judged(small);
  const promise = monitors.find(({ id }) => id === first.id)?.promise ?? "the end is the same with and without faults";
  console.log(`\nseed ${schedule.seed}, ${schedule.scenario.name}: ${first.id} is broken (${promise})`);
  for (const { id, text } of left) console.log(`  ${id}: ${text}`);
  console.log(
    `  shrunk from ${schedule.faults.length} faults to ${small.faults.length}; repeat it with\n  ${replayCommand(small)}`,
  );
  console.log(
    trace()
      .map((line) => `  ${line}`)
      .join("\n"),
  );
}

const tally = createTally();
const failuresMax = Number(values.failures);
const isSingle = values.seed !== undefined;
await judgeAll({
  schedules: schedules(),
  workers: isSingle ? 0 : Number(values.workers),
  spend: tally.spend,
  take: async (schedule, finding) => {
    tally.add(schedule, finding);
    if (values.trace) console.log((await judged(schedule)).trace().join("\n"));
    if (finding.violations.length > 0) await explain(schedule, finding);
    return tally.seconds() <= 60 * Number(values.minutes) && tally.failed() < failuresMax;
  },
});
console.log(tally.report());
process.exit(tally.failed() === 0 ? 0 : 1);
