/**
 * A world whose clock moves only when somebody says so: for tests, and for a copy of a cluster that is run to its end. An hour passes in microseconds, a seed fixes every draw, and two
 * runs with one seed are the same run. Between two timers everything that can run without waiting does run.
 */
import type { Millis } from "../base/brand.ts";
import type { World } from "../base/world.ts";

export interface VirtualWorld extends World {
  /** Lets `ms` pass, ending sleeps at their exact times and in order; less when `isOver` says so after a step. */
  advance(ms: Millis, isOver?: () => boolean): Promise<void>;
  after(ms: Millis, ring: () => void): () => void;
  /** Lets time pass until the promise settles; fails when everybody waits for something other than time, or after `msMax`. */
  run<T>(work: Promise<T>, msMax?: Millis): Promise<T>;
  /** Advances the clock until there is no sleep (true) or `msMax` has passed (false). */
  runUntilIdle(msMax: Millis): Promise<boolean>;
  /** Moves the wall clock only, as an administrator or a time server does. */
  jump(ms: Millis): void;
  /** Time passes while nothing runs, as with SIGSTOP and SIGCONT; overdue sleeps end at the next advance. */
  freeze(ms: Millis): void;
  sleepers(): number;
}

interface Sleeper {
  readonly at: Millis;
  readonly order: number;
  trigger(): void;
}

const bootedAt = 1_750_000_000_000;
const hourMs = 3_600_000;

export function createVirtualWorld(seed = 1, startsAtMs: Millis = bootedAt): VirtualWorld {
  const random = diceFrom(seed);
  const sleeping: Sleeper[] = [];
  let elapsed = 0;
  let wallAhead = startsAtMs;
  let order = 0;

  const after = (ms: Millis, ring: () => void): (() => void) => {
    const sleeper: Sleeper = { at: elapsed + Math.max(ms, 0), order: order++, trigger: ring };
    sleeping.splice(placeFor(sleeping, sleeper), 0, sleeper);
    return () => {
      const place = sleeping.indexOf(sleeper);
      if (place !== -1) sleeping.splice(place, 1);
    };
  };
  const sleep = (ms: Millis, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal === undefined) return void after(ms, resolve);
      if (signal.aborted) return reject(signal.reason);
      const getUp = after(ms, () => {
        signal.removeEventListener("abort", cancel);
        resolve();
      });
      const cancel = (): void => {
        getUp();
        reject(signal.reason);
      };
      signal.addEventListener("abort", cancel, { once: true });
    });

  /** Ends the next sleep, unless it is later than `until`. */
  const endNext = (until: Millis): boolean => {
    const next = sleeping[0];
    if (next === undefined || next.at > until) return false;
    sleeping.shift();
    elapsed = Math.max(elapsed, next.at);
    next.trigger();
    return true;
  };
  const step = async (until: Millis): Promise<boolean> => {
    await settle();
    return endNext(until);
  };

  const advance = async (ms: Millis, isOver: () => boolean = () => false): Promise<void> => {
    const until = elapsed + ms;
    await inTurns(() => !isOver() && endNext(until));
    if (!isOver()) elapsed = Math.max(elapsed, until);
    await settle();
  };

  const run = async <T>(work: Promise<T>, msMax: Millis = hourMs): Promise<T> => {
    const until = elapsed + msMax;
    let settled = false;
    const done = (): void => {
      settled = true;
    };
    work.then(done, done);
    await settle();
    while (!settled) {
      if (await step(until)) await settle();
      else if (!settled) throw new Error(stuckAt(elapsed, sleeping.length, msMax));
    }
    return work;
  };

  return {
    // Whole milliseconds, as Date.now() has them.
    now: () => Math.floor(wallAhead + elapsed),
    elapsed: () => elapsed,
    random,
    sleep,
    after,
    advance,
    run,
    runUntilIdle: async (msMax) => {
      const until = elapsed + msMax;
      while (await step(until));
      return sleeping.length === 0;
    },
    jump: (ms) => {
      wallAhead += ms;
    },
    freeze: (ms) => {
      elapsed += ms;
    },
    sleepers: () => sleeping.length,
  };
}

const stuckAt = (elapsed: Millis, sleepers: number, msMax: Millis): string =>
  sleepers === 0
    ? `at ${elapsed} ms nobody sleeps and the work is not done: it waits for something that will not come`
    : `the work is not done after ${msMax} virtual ms; ${sleepers} still sleep`;

/** Sleeps are ordered by their end, then by their start. */
function placeFor(sleeping: readonly Sleeper[], sleeper: Sleeper): number {
  let [low, high] = [0, sleeping.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sleeping[middle];
    if (other !== undefined && (other.at < sleeper.at || (other.at === sleeper.at && other.order < sleeper.order)))
      low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The event loop comes back here only after every promise that could go on has gone on. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Takes turns as long as `turn` says that there is more to do; before each, every promise that could go on has gone on. Node
 * does so between two ticks, too, and without a round of the event loop: what waits for the outside gets its turn now and then.
 */
const inTurns = (turn: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    let turns = 0;
    const take = (): void => {
      turns += 1;
      if (!turn()) resolve();
      else if (turns % turnsInRound === 0) setImmediate(take);
      else void settled.then(again);
    };
    const again = (): void => void process.nextTick(take);
    setImmediate(take);
  });
const turnsInRound = 64;
/** Waits as a microtask does, without the bookkeeping of Node's queueMicrotask. */
const settled = Promise.resolve();

/** A 32-bit xorshift generator: its period is all that a test needs. Seeds are spread, as 1 and 2 should not look alike. */
export function diceFrom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}
