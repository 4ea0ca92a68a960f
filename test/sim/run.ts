/** `npm run sim`: schedules from seeds, one process per core. See options.ts, or --help. */
import { say } from "../e2e/harness/progress.ts";
import { mustRun } from "../flags.ts";
import { judged, scheduleOf } from "./campaign.ts";
import { everyCrashPair, everySingleFault } from "./exhaustive.ts";
import { explanationOf } from "./explanation.ts";
import { parseOptions, type SimOptions, usage } from "./options.ts";
import type { Schedule } from "./run-one.ts";
import { createTally, printed, type Tally } from "./tally.ts";
import { createWorkerPool } from "./workers.ts";

// Thousands of faults are thrown on purpose; their stacks are not needed.
Error.stackTraceLimit = 0;

const { options, output } = mustRun(parseOptions(process.argv.slice(2)), "npm run sim", usage);
const out = output === "text" ? console.log : say;

async function* schedules(options: SimOptions): AsyncGenerator<Schedule> {
  const { from, seeds, among, component, plan, exhaustive, allowed } = options;
  if (exhaustive) {
    yield* everySingleFault(among, allowed, component);
    yield* everyCrashPair(among);
    return;
  }
  for (let seed = from; seed < from + seeds; seed++) {
    const schedule = await scheduleOf(seed, { among, component, allowed });
    yield plan === undefined ? schedule : { ...schedule, faults: plan };
  }
}

async function* sabotaged(of: AsyncGenerator<Schedule>, { sabotage }: Pick<Schedule, "sabotage">) {
  for await (const schedule of of) yield { ...schedule, sabotage };
}

/** Nobody should wonder whether it still lives, or for how long yet. */
function reportProgress(tally: Tally): NodeJS.Timeout {
  const of = options.exhaustive ? "" : ` of ${options.seeds}`;
  const report = (): void => {
    const { schedules: done, failed, seconds } = tally.soFar();
    say(
      `… ${seconds.toFixed(0)} s: ${done}${of} schedules, ${failed} with violations, ${(done / seconds).toFixed(0)}/s`,
    );
  };
  return setTimeout(() => {
    report();
    setInterval(report, progressMs).unref();
  }, firstProgressMs).unref();
}
const firstProgressMs = 2_000;
const progressMs = 15_000;

const tally = createTally();
reportProgress(tally);
const pool = createWorkerPool(options.workers);
await pool.judge({
  schedules: sabotaged(schedules(options), options.bug ?? {}),
  spend: tally.spend,
  take: async (schedule, finding) => {
    tally.add(schedule, finding);
    if (options.trace) out((await judged(schedule)).trace().join("\n"));
    for (const line of await explanationOf(schedule, finding.violations, options.bug)) out(line);
    const { seconds, failed } = tally.soFar();
    return seconds <= 60 * options.minutes && failed < options.failures;
  },
});
pool.dismiss();
const result = tally.result();
console.log(output === "json" ? JSON.stringify(result, undefined, 2) : printed(result));
process.exit(result.failed === 0 ? 0 : 1);
