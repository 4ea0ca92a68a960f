/**
 * Lets a bounded number of calls run at once; the others wait, first come first served. A call that hangs gives up its slot, or a few
 * of them would hold up all others until their deadlines. Three bounds hold:
 *
 *   new      at most `newMax`, calls that were started less than a tenth of a second ago
 *   running  at most `atOnceMax`, calls that are expected to end soon
 *   hanging  at most `hangingMax`, calls that gave up their slot and have no reply yet
 *
 * A driver that replies at once is limited by the processor, its own or that of the node: with a hundred calls at once instead of a few,
 * all of them end late, and whoever waits for the first has nothing to do. Each call that takes longer makes room for one more, so that a
 * slow driver has all its calls within half a second; a quick reply ends that.
 *
 * A call hangs when it takes several times as long as calls of its method usually do. A driver that is merely slow is therefore not
 * sent more calls at once than before.
 */
import type { Millis } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";

export interface SemaphoreOptions {
  readonly atOnceMax: number;
  readonly newMax: number;
  readonly hangingMax: number;
  readonly world: Pick<World, "after" | "elapsed">;
}

export interface SlotRequest<T> {
  /** Name of the method: how long a call usually takes is learned for each method. */
  readonly method: string;
  /** The same call hung before: it counts as hanging from its start, while there is room for hanging calls. */
  readonly hungBefore?: boolean | undefined;
  /** Whether the other side has answered: a deadline that passed says nothing about how long answers take. */
  isAnswer?(result: T): boolean;
  /** Called when the call gives up its slot. */
  onHanging?(): void;
}

export interface Semaphore {
  <T>(slot: SlotRequest<T>, work: () => Promise<T>): Promise<T>;
  stats(): { readonly running: number; readonly hanging: number; readonly waiting: number };
}

/** The weight of the newest answer in the average. */
const newestWeight = 1 / 8;
/** So many times as long as usual is hanging. */
const usualTimes = 4;

export function createSemaphore({ atOnceMax, newMax, hangingMax, world }: SemaphoreOptions): Semaphore {
  const waiting: (() => void)[] = [];
  const usualMs = new Map<string, Millis>();
  /** Calls that hang and keep their slot, because too many others hang. */
  const overdue = new Set<() => void>();
  let running = 0;
  let hanging = 0;
  let newCalls = 0;
  let roomForNew = newMax;

  const admit = (): void => {
    while (running < atOnceMax && newCalls < roomForNew && waiting.length > 0) {
      running += 1;
      newCalls += 1;
      waiting.shift()?.();
    }
  };
  const enter = async (): Promise<void> => {
    const turn = new Promise<void>((resolve) => waiting.push(resolve));
    admit();
    await turn;
  };
  const releaseOverdueSlot = (): void => {
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

  /** Acquires a slot, which the call gives up as soon as it hangs. Returns what releases the slot, or ends the hanging. */
  const acquireSlot = async ({ method, hungBefore = false, onHanging }: SlotRequest<never>): Promise<() => void> => {
    let hasSlot = !(hungBefore && hanging < hangingMax);
    if (hasSlot) await enter();
    else hanging += 1;
    const startedAt = world.elapsed();
    const releaseSlot = (): void => {
      hasSlot = false;
      running -= 1;
      hanging += 1;
      onHanging?.();
      admit();
    };
    let isNew = hasSlot;
    const takesLonger = (): void => {
      isNew = false;
      newCalls -= 1;
      roomForNew = Math.min(roomForNew + 1, atOnceMax);
      look();
      admit();
    };
    const look = (): void => {
      const leftMs = startedAt + hangsAfterMs(method) - world.elapsed();
      if (leftMs > 0) stopTimer = world.after(leftMs, look);
      else {
        overdue.add(releaseSlot);
        releaseOverdueSlot();
      }
    };
    let stopTimer = hasSlot ? world.after(limits.newCallMs, takesLonger) : (): void => undefined;
    return () => {
      stopTimer();
      overdue.delete(releaseSlot);
      if (isNew) {
        newCalls -= 1;
        roomForNew = newMax;
      }
      if (hasSlot) running -= 1;
      else hanging -= 1;
      releaseOverdueSlot();
      admit();
    };
  };

  const withSlot = async <T>(passage: SlotRequest<T>, work: () => Promise<T>): Promise<T> => {
    const release = await acquireSlot(passage);
    const startedAt = world.elapsed();
    try {
      const result = await work();
      if (passage.isAnswer?.(result) ?? true) learn(passage.method, world.elapsed() - startedAt);
      return result;
    } finally {
      release();
    }
  };
  return Object.assign(withSlot, { stats: () => ({ running, hanging, waiting: waiting.length }) });
}
