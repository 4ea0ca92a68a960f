/** `npm run sim`: schedules from seeds, one process per core. See options.ts, or --help. */
import { say } from "../e2e/harness/progress.ts";
import { mustRun } from "../flags.ts";
import { judged, scheduleOf, shrink } from "./campaign.ts";
import { createCrew, type Finding } from "./crew.ts";
import { everyCrashPair, everySingleFault } from "./exhaustive.ts";
import { monitors } from "./monitors/index.ts";
import { parseOptions, type SimOptions, usage } from "./options.ts";
import { replayCommand } from "./replay.ts";
import type { Schedule } from "./run-one.ts";
import { createTally, printed, type Tally } from "./tally.ts";

// Thousands of faults are thrown on purpose: nobody reads their stacks.
Error.stackTraceLimit = 0;

const { options, output } = mustRun(parseOptions(process.argv.slice(2)), "npm run sim", usage);
const out = output === "text" ? console.log : say;

async function* schedules({ from, seeds, scenario, plan, exhaustive, allowed }: SimOptions): AsyncGenerator<Schedule> {
  if (exhaustive) {
    yield* everySingleFault(scenario, allowed);
    yield* everyCrashPair(scenario);
    return;
  }
  for (let seed = from; seed < from + seeds; seed++) {
    const schedule = await scheduleOf(seed, { scenario, allowed });
    yield plan === undefined ? schedule : { ...schedule, faults: plan };
  }
}

async function explain(schedule: Schedule, { violations }: Finding): Promise<void> {
  const [first] = violations;
  if (first === undefined) return;
  const small = await shrink(schedule, first.id);
  const { trace, violations: left } = await judged(small);
  const promise = monitors.find(({ id }) => id === first.id)?.promise ?? "the end is the same with and without faults";
  out(`\nseed ${schedule.seed}, ${schedule.scenario.name}: ${first.id} is broken (${promise})`);
  for (const { id, text } of left) out(`  ${id}: ${text}`);
  out(`  shrunk from ${schedule.faults.length} faults to ${small.faults.length}; repeat it with`);
  out(`  ${replayCommand(small)}`);
  for (const line of trace()) out(`  ${line}`);
}

/** Nobody should wonder whether it still lives, or for how long yet. */
function tellProgress(tally: Tally): NodeJS.Timeout {
  const of = options.exhaustive ? "" : ` of ${options.seeds}`;
  const tell = (): void => {
    const { schedules: done, failed, seconds } = tally.soFar();
    say(
      `… ${seconds.toFixed(0)} s: ${done}${of} schedules, ${failed} with violations, ${(done / seconds).toFixed(0)}/s`,
    );
  };
  return setTimeout(() => {
    tell();
    setInterval(tell, progressMs).unref();
  }, firstProgressMs).unref();
}
const firstProgressMs = 2_000;
const progressMs = 15_000;

const tally = createTally();
tellProgress(tally);
const crew = createCrew(options.workers);
await crew.judge({
  schedules: schedules(options),
  spend: tally.spend,
  take: async (schedule, finding) => {
    tally.add(schedule, finding);
    if (options.trace) out((await judged(schedule)).trace().join("\n"));
    if (finding.violations.length > 0) await explain(schedule, finding);
    const { seconds, failed } = tally.soFar();
    return seconds <= 60 * options.minutes && failed < options.failures;
  },
});
crew.dismiss();
const result = tally.result();
console.log(output === "json" ? JSON.stringify(result, undefined, 2) : printed(result));
process.exit(result.failed === 0 ? 0 : 1);
