/**
 * `npm run sim -- --seeds 10000 [--seed N] [--scenario NAME] [--faults FAMILY,…|name,…] [--plan at:name:pick,…] [--exhaustive] [--minutes N]`
 * Runs schedules one after the other on one core and reports. A failing seed is shrunk and printed with the command that repeats it.
 */
import { parseArgs } from "node:util";
import { judged, scheduleOf, shrink } from "./campaign.ts";
import { everyCrashPair, everySingleFault } from "./exhaustive.ts";
import { type FaultRow, families, faultNamed, parseFaults, printFaults } from "./faults/index.ts";
import { monitors } from "./monitors/index.ts";
import type { Outcome, Schedule } from "./run-one.ts";
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

const commandFor = ({ scenario: { name }, seed, faults }: Schedule): string =>
  `npm run sim -- --seed ${seed} --scenario ${name} --plan ${printFaults(faults) || '""'} --trace`;

async function explain(schedule: Schedule, { violations }: Outcome): Promise<void> {
  const [first] = violations;
  if (first === undefined) return;
  const small = await shrink(schedule, first.id);
  const { trace, violations: left } = await judged(small);
  const promise = monitors.find(({ id }) => id === first.id)?.promise ?? "the end is the same with and without faults";
  console.log(`\nseed ${schedule.seed}, ${schedule.scenario.name}: ${first.id} is broken (${promise})`);
  for (const { id, text } of left) console.log(`  ${id}: ${text}`);
  console.log(
    `  shrunk from ${schedule.faults.length} faults to ${small.faults.length}; repeat it with\n  ${commandFor(small)}`,
  );
  console.log(
    trace()
      .map((line) => `  ${line}`)
      .join("\n"),
  );
}

const tally = createTally();
const failuresMax = Number(values.failures);
for await (const schedule of schedules()) {
  const outcome = await judged(schedule);
  tally.add(schedule, outcome);
  if (values.trace) console.log(outcome.trace().join("\n"));
  if (tally.seconds() > 60 * Number(values.minutes)) break;
  if (outcome.violations.length === 0) continue;
  await explain(schedule, outcome);
  if (tally.failed() >= failuresMax) break;
}
console.log(tally.report());
process.exit(tally.failed() === 0 ? 0 : 1);
