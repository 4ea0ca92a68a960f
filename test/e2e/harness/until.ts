/** Waiting for something to become true, with a limit and a sentence for the case that it does not. */
import { setTimeout as sleep } from "node:timers/promises";
import { describeExited } from "./exited-processes.ts";

export interface Wait {
  /** Completes "gave up waiting until …". */
  readonly what: string;
  readonly msMax?: number;
  readonly everyMs?: number;
}

/** Calls `look` until it returns something other than undefined. What it throws is thrown at once. */
export async function until<T>(
  { what, msMax = 30_000, everyMs = 50 }: Wait,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline)
      throw new Error(`gave up after ${msMax / 1000} s waiting until ${what}${describeExited()}`);
    await sleep(everyMs);
  }
}
