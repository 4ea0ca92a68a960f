/** One worker process: runs the seeds that it gets, and reports its findings. */
import { type Job, judgeBatch, scheduleFrom } from "./workers.ts";

// Thousands of faults are thrown on purpose; their stacks are not needed.
Error.stackTraceLimit = 0;

process.on("message", async (jobs: readonly Job[]) => {
  process.send?.(await judgeBatch(jobs.map(scheduleFrom)));
});
process.on("disconnect", () => process.exit(0));
