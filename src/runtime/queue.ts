/**
 * A queue of keys, never of events: it remembers *that* an object wants attention, not why. From that follows:
 *
 * - a key waits once, however often it is added; the earliest date asked for wins;
 * - one run per key: a key added while it runs waits for that run to end;
 * - a key that fails comes back after a delay that doubles each time, with jitter, until it is forgotten;
 * - no polling: a waiting consumer continues on an add, on the end of a run, or on one timer for the next date.
 *
 * The number of keys is bounded. A full queue rejects new ones and reports it; its owner resyncs its stores when
 * `onRoom` reports free space, so that a rejected key is late, never lost.
 */
import { type Backoff, backoffMs } from "../base/backoff.ts";
import type { Key, Millis } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { createHeap } from "./heap.ts";

/** What the queue reports to its metrics. */
export interface QueueObserver {
  added(): void;
  /** How long the key had been due. */
  started(waitedMs: Millis): void;
  finished(tookMs: Millis): void;
  retried(): void;
  /** Called once, with a function that reads the queue's state on scrape. */
  bind?(stats: () => QueueStats): void;
}

export interface QueueOptions {
  readonly world: Pick<World, "elapsed" | "random" | "after">;
  readonly backoff: Backoff;
  readonly observer?: QueueObserver | undefined;
  readonly keysMax?: number | undefined;
  /** After a refusal: half of the queue is free again. */
  readonly onRoom?: (() => void) | undefined;
}

export interface Queue {
  /** False when the queue is full and the key was not taken. */
  add(key: Key, afterMs?: Millis): boolean;
  /** Puts a failed key back, each time later than the last; returns the delay. */
  retry(key: Key, options?: RetryOptions): Millis;
  /** The key did well, or is gone: its next failure is a first failure again. */
  forget(key: Key): void;
  /** The next key that is due and not running; undefined once the signal aborts. Call `done` when its run has ended. */
  next(signal: AbortSignal): Promise<Key | undefined>;
  done(key: Key): void;
  stats(): QueueStats;
}

export interface RetryOptions {
  /** The first delay. Failures with different ones are counted apart: many quick tries must not make a slow one slower. */
  readonly startMs?: Millis | undefined;
  readonly atLeastMs?: Millis | undefined;
  /** The longest delay, where that of the queue is too long. */
  readonly atMostMs?: Millis | undefined;
}

export interface QueueStats {
  readonly due: number;
  readonly waiting: number;
  /** For how long each run has been under way. */
  readonly runningMs: readonly Millis[];
}

interface Taker {
  readonly signal: AbortSignal;
  take(key: Key | undefined): void;
}

export function createQueue({ world, backoff, observer, keysMax = limits.queueKeysMax, onRoom }: QueueOptions): Queue {
  const waiting = createHeap();
  /** Since when each key runs. */
  const running = new Map<Key, Millis>();
  /** Keys that were added while they ran, and for when. */
  const again = new Map<Key, Millis>();
  /** Each kind of failure is known by its first delay. */
  const failures = new Map<Key, Map<Millis, number>>();
  const takers = new Set<Taker>();
  const heard = new WeakSet<AbortSignal>();
  let alarm: { readonly at: Millis; readonly cancel: () => void } | undefined;
  let refused = false;

  const put = (key: Key, at: Millis): boolean => {
    if (running.has(key)) {
      again.set(key, Math.min(at, again.get(key) ?? Number.POSITIVE_INFINITY));
      return true;
    }
    if (waiting.size() + running.size >= keysMax && !waiting.has(key)) {
      refused = true;
      return false;
    }
    if (waiting.put(key, at)) observer?.added();
    return true;
  };

  /** Hands due keys to those who wait for one, then sets the alarm for the next date. */
  const dispatch = (): void => {
    const now = world.elapsed();
    for (const taker of takers) {
      const first = waiting.first();
      if (first === undefined || first.at > now) break;
      waiting.shift();
      running.set(first.key, now);
      observer?.started(now - first.at);
      takers.delete(taker);
      taker.take(first.key);
    }
    setAlarm();
    if (refused && waiting.size() + running.size <= keysMax / 2) {
      refused = false;
      onRoom?.();
    }
  };

  const setAlarm = (): void => {
    const at = takers.size === 0 ? undefined : waiting.first()?.at;
    if (at === alarm?.at) return;
    alarm?.cancel();
    alarm = undefined;
    if (at === undefined) return;
    const ring = (): void => {
      alarm = undefined;
      dispatch();
    };
    alarm = { at, cancel: world.after(at - world.elapsed(), ring) };
  };

  /** One listener for all who wait: a thousand of them on one signal would be looked through at every wait. */
  const hear = (signal: AbortSignal): void => {
    if (heard.has(signal)) return;
    heard.add(signal);
    const dismiss = (): void => {
      for (const taker of takers)
        if (taker.signal === signal) {
          takers.delete(taker);
          taker.take(undefined);
        }
      setAlarm();
    };
    signal.addEventListener("abort", dismiss, { once: true });
  };

  const stats = (): QueueStats => {
    const now = world.elapsed();
    return {
      due: waiting.countUntil(now),
      waiting: waiting.size(),
      runningMs: [...running.values()].map((startedAt) => now - startedAt),
    };
  };
  observer?.bind?.(stats);

  return {
    add(key, afterMs = 0) {
      // What a rounding error leaves of a wait may be too small to add to the clock: the key would be due again at once, forever.
      const taken = put(key, world.elapsed() + (afterMs > 0 ? Math.max(afterMs, 1) : 0));
      dispatch();
      return taken;
    },
    retry(key, { startMs = backoff.startMs, atLeastMs = 0, atMostMs = backoff.maxMs } = {}) {
      const counts = failures.get(key) ?? new Map<Millis, number>();
      const count = counts.get(startMs) ?? 0;
      failures.set(key, counts.set(startMs, count + 1));
      const maxMs = Math.min(atMostMs, backoff.maxMs);
      const ms = Math.max(atLeastMs, backoffMs({ startMs, maxMs }, count, world.random()));
      observer?.retried();
      put(key, world.elapsed() + ms);
      dispatch();
      return ms;
    },
    forget: (key) => void failures.delete(key),
    next: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        hear(signal);
        takers.add({ signal, take: resolve });
        dispatch();
      }),
    done(key) {
      const startedAt = running.get(key);
      if (startedAt === undefined) return;
      running.delete(key);
      observer?.finished(world.elapsed() - startedAt);
      const at = again.get(key);
      again.delete(key);
      if (at !== undefined) put(key, at);
      dispatch();
    },
    stats,
  };
}
