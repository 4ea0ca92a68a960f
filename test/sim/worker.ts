/** One process of the crew: judges what it is sent, and says what it found. */
import { type Job, judgeBatch, scheduleFrom } from "./workers.ts";

// Thousands of faults are thrown on purpose: nobody reads their stacks.
Error.stackTraceLimit = 0;

process.on("message", async (jobs: readonly Job[]) => {
  process.send?.(await judgeBatch(jobs.map(scheduleFrom)));
});
process.on("disconnect", () => process.exit(0));
