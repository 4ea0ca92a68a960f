/**
 * Lets a bounded number of calls run at once; the others wait their turn, first come first served. A call that hangs gives
 * its place to the next one, or a few of them would hold up all others until their deadlines. Two bounds hold:
 *
 *   in place  at most `atOnceMax`, calls that are expected to end soon
 *   hanging   at most `hangingMax`, calls that have lost their place and are still unanswered
 *
 * A call hangs when it takes several times as long as calls of its sort usually do. A driver that is merely slow is thereby
 * not sent more at once than it was given before.
 */
import type { Millis } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";

export interface SemaphoreOptions {
  readonly atOnceMax: number;
  readonly hangingMax: number;
  readonly world: Pick<World, "after" | "elapsed">;
}

export interface Passage<T> {
  /** What is done, as a method's name: how long it usually takes is learned for each sort. */
  readonly sort: string;
  /** The same call hung before: it takes none of the places in which others end soon, as long as there are others. */
  readonly hungBefore?: boolean | undefined;
  /** Whether the other side has answered: a deadline that passed says nothing about how long answers take. */
  isAnswer?(result: T): boolean;
  /** Called when the place is given away. */
  onHanging?(): void;
}

export interface Semaphore {
  <T>(passage: Passage<T>, work: () => Promise<T>): Promise<T>;
  stats(): { readonly inPlace: number; readonly hanging: number; readonly waiting: number };
}

/** The weight of the newest answer in the average. */
const newestWeight = 1 / 8;
/** So many times as long as usual is hanging. */
const usualTimes = 4;

export function createSemaphore({ atOnceMax, hangingMax, world }: SemaphoreOptions): Semaphore {
  const waiting: (() => void)[] = [];
  const usualMs = new Map<string, Millis>();
  /** Calls that hang and keep their place, because too many have given theirs away. */
  const overdue = new Set<() => void>();
  let inPlace = 0;
  let hanging = 0;

  const admit = (): void => {
    while (inPlace < atOnceMax && waiting.length > 0) {
      inPlace += 1;
      waiting.shift()?.();
    }
  };
  const enter = async (): Promise<void> => {
    const turn = new Promise<void>((resolve) => waiting.push(resolve));
    admit();
    await turn;
  };
  const giveOverduePlaceAway = (): void => {
    const [next] = overdue;
    if (next === undefined || hanging >= hangingMax) return;
    overdue.delete(next);
    next();
  };

  const hangsAfterMs = (sort: string): Millis => Math.max(limits.callHangsMsMin, usualTimes * (usualMs.get(sort) ?? 0));
  const learn = (sort: string, tookMs: Millis): void => {
    const known = usualMs.get(sort) ?? tookMs;
    usualMs.set(sort, known + (tookMs - known) * newestWeight);
  };

  /** Takes a place, which the call loses as soon as it hangs. The answer gives back whatever it has then. */
  const takePlace = async ({ sort, hungBefore = false, onHanging }: Passage<never>): Promise<() => void> => {
    let hasPlace = !(hungBefore && hanging < hangingMax);
    if (hasPlace) await enter();
    else hanging += 1;
    const startedAt = world.elapsed();
    const giveAway = (): void => {
      hasPlace = false;
      inPlace -= 1;
      hanging += 1;
      onHanging?.();
      admit();
    };
    const look = (): void => {
      const leftMs = startedAt + hangsAfterMs(sort) - world.elapsed();
      if (leftMs > 0) stopTimer = world.after(leftMs, look);
      else {
        overdue.add(giveAway);
        giveOverduePlaceAway();
      }
    };
    let stopTimer = hasPlace ? world.after(hangsAfterMs(sort), look) : (): void => undefined;
    return () => {
      stopTimer();
      overdue.delete(giveAway);
      if (hasPlace) inPlace -= 1;
      else hanging -= 1;
      giveOverduePlaceAway();
      admit();
    };
  };

  const gate = async <T>(passage: Passage<T>, work: () => Promise<T>): Promise<T> => {
    const leave = await takePlace(passage);
    const startedAt = world.elapsed();
    try {
      const result = await work();
      if (passage.isAnswer?.(result) ?? true) learn(passage.sort, world.elapsed() - startedAt);
      return result;
    } finally {
      leave();
    }
  };
  return Object.assign(gate, { stats: () => ({ inPlace, hanging, waiting: waiting.length }) });
}
