/** Prints what failed and why, how far a long run has come, and one closing line with the counts. */
import { inspect } from "node:util";
import { createRunning, type Event } from "./running.ts";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface TestData {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: {
    readonly type?: string;
    readonly duration_ms: number;
    readonly error?: Error & { failureType?: string };
  };
}

interface Sink {
  write(text: string): unknown;
}

/** node:test wraps the thrown error; the cause is what the author wants to read. */
const reasonOf = (data: TestData): string => {
  const error = data.details.error;
  return inspect(error?.cause ?? error, { depth: 6 });
};

/** A suite fails because a test in it did, and only that test is worth a line; or because it broke off itself, which is worth one. */
const isEcho = ({ details }: TestData): boolean => details.error?.failureType === "subtestsFailed";

/** `counts` may already hold what was decided before the first test. */
export async function report(events: AsyncIterable<Event>, out: Sink, counts: Counts = noneYet()): Promise<Counts> {
  const running = createRunning((line) => out.write(`${line}\n`));
  for await (const { type, data } of running.follow(events)) {
    if (type === "test:pass") countPass(data as TestData, counts, out);
    if (type === "test:fail") countFailure(data as TestData, counts, out);
    if (type === "test:stdout" || type === "test:stderr") out.write((data as { message: string }).message);
  }
  const problem = running.trouble();
  if (problem !== undefined) {
    counts.failed += 1;
    out.write(`FAILED: ${problem}\n`);
  }
  out.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  return counts;
}

const noneYet = (): Counts => ({ passed: 0, failed: 0, skipped: 0 });

const slowMs = 2_000;

function countPass(data: TestData, counts: Counts, out: Sink): void {
  if (data.details.type === "suite") return;
  if (data.skip !== undefined || data.todo !== undefined) {
    counts.skipped += 1;
    out.write(`skipped: ${data.name}\n`);
    return;
  }
  counts.passed += 1;
  const ms = data.details.duration_ms;
  if (ms >= slowMs) out.write(`passed in ${(ms / 1000).toFixed(1)} s: ${data.name}\n`);
}

function countFailure(data: TestData, counts: Counts, out: Sink): void {
  if (isEcho(data)) return;
  counts.failed += 1;
  out.write(`FAILED: ${data.name}${data.file === undefined ? "" : ` (${data.file})`}\n${reasonOf(data)}\n`);
}
