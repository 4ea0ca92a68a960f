/**
 * Time and chance. Everything that waits, dates or draws lots takes a `World`, so that the simulation can replace
 * both; the platform's clock, timers and dice are used in this file and nowhere else (test/tidy.test.ts checks it).
 */
import type { Millis } from "./brand.ts";
import { Fault } from "./fault.ts";

export interface World {
  /** Wall clock, milliseconds since 1970. May jump: never subtract two readings to measure a duration. */
  now(): Millis;
  /** Monotonic clock, milliseconds since some start. For durations and deadlines. */
  elapsed(): Millis;
  /** Uniform in [0, 1). */
  random(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}

export const realWorld: World = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", cancel);
        resolve();
      }, timerMsMax(ms));
      const cancel = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
    }),
};

/** Timers past 2^31-1 ms fire at once; a sleep that long may as well be cut short. */
const timerMsMax = (ms: Millis): Millis => Math.min(Math.max(ms, 0), 2 ** 31 - 1);

/** A random version 4 UUID drawn from the world, so that a seed fixes every uid. */
export function uuid(world: Pick<World, "random">): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(world.random() * 16).toString(16));
  hex[12] = "4";
  hex[16] = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  const text = hex.join("");
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/** Without a reason of ours, every abort would make an exception with a stack. */
const ended = "the work has ended";

/** Aborts the work's signal with DeadlineExceeded after `ms`, or as soon as the parent aborts. The timer dies with the work. */
export async function withDeadline<T>(
  world: Pick<World, "sleep">,
  parent: AbortSignal | undefined,
  ms: Millis,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const signal = parent === undefined ? own.signal : AbortSignal.any([parent, own.signal]);
  const expire = (): void => own.abort(new Fault("DeadlineExceeded", `not done within ${ms} ms`));
  world.sleep(ms, signal).then(expire, () => undefined);
  try {
    return await work(signal);
  } finally {
    own.abort(ended);
  }
}
