/** The report of a schedule that violates a promise. */
import type { Bug } from "./bugs/bug.ts";
import { judged, shrink } from "./campaign.ts";
import { monitors, type Violation } from "./monitors/index.ts";
import { replayCommand } from "./replay.ts";
import type { Schedule } from "./run-one.ts";

/** Which promise, the smallest schedule that breaks it, the command that repeats it, and its trace; nothing of a good one. */
export async function explanationOf(
  schedule: Schedule,
  [first]: readonly Violation[],
  bug?: Bug,
): Promise<readonly string[]> {
  if (first === undefined) return [];
  const small = await shrink(schedule, first.id);
  const { trace, violations } = await judged(small);
  const promise = monitors.find(({ id }) => id === first.id)?.promise ?? "the end is the same with and without faults";
  return [
    `\nseed ${schedule.seed}, ${schedule.scenario.name}: ${first.id} is broken (${promise})`,
    ...violations.map(({ id, text }) => `  ${id}: ${text}`),
    `  shrunk from ${schedule.faults.length} faults to ${small.faults.length}; repeat it with`,
    `  ${replayCommand(small, bug)}`,
    ...trace().map((line) => `  ${line}`),
  ];
}
