/**
 * Time and randomness. Code that waits, reads the time or uses random numbers takes a `World`, so that the simulation can replace
 * both; the platform's clock, timers and random numbers are used in this file only (test/tidy.test.ts checks it).
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
  /**
   * Calls `ring` after `ms`, unless the answer is called before. For a timer that most often does not ring, as every call has one:
   * without the signal and the promise of a sleep it costs a fraction.
   */
  after(ms: Millis, ring: () => void): () => void;
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
  after: (ms, ring) => {
    const timer = setTimeout(ring, timerMsMax(ms));
    return () => clearTimeout(timer);
  },
};

/** Timers past 2^31-1 ms fire at once, so longer sleeps are shortened. */
const timerMsMax = (ms: Millis): Millis => Math.min(Math.max(ms, 0), 2 ** 31 - 1);

const ignore = (): void => undefined;

/** A controller that aborts with its parent, too. AbortSignal.any does the same with weak references, and ten times as slowly. */
export function controllerUnder(parent: AbortSignal | undefined): { own: AbortController; release: () => void } {
  const own = new AbortController();
  if (parent === undefined) return { own, release: ignore };
  const follow = (): void => own.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  return { own, release: () => parent.removeEventListener("abort", follow) };
}

/** A random version 4 UUID drawn from the world, so that a seed fixes every uid. */
export function uuid(world: Pick<World, "random">): string {
  const drawn = (): number => Math.floor(world.random() * 0x1_0000);
  const four = (value = drawn()): string => value.toString(16).padStart(4, "0");
  const [version, variant] = [(drawn() & 0x0fff) | 0x4000, (drawn() & 0x3fff) | 0x8000];
  return `${four()}${four()}-${four()}-${four(version)}-${four(variant)}-${four()}${four()}${four()}`;
}

/** Without a reason of ours, every abort would make an exception with a stack. */
const ended = "the work has ended";

/** Aborts the work's signal with DeadlineExceeded after `ms`, or as soon as the parent aborts. The timer dies with the work. */
export async function withDeadline<T>(
  world: Pick<World, "after">,
  parent: AbortSignal | undefined,
  ms: Millis,
  work: (signal: AbortSignal) => Promise<T>,
  what = "not done",
): Promise<T> {
  const { own, release } = controllerUnder(parent);
  const stopTimer = world.after(ms, () => own.abort(new Fault("DeadlineExceeded", `${what} within ${ms} ms`)));
  try {
    return await work(own.signal);
  } catch (reason) {
    own.abort(ended); // What the work has begun and left behind ends with it.
    throw reason;
  } finally {
    stopTimer();
    release();
  }
}

export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
