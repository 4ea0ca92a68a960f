/**
 * Reads that several reconciles share: each waits for one that begins after it asked. In a burst all of them would read the same. Reads
 * of one thing take about a tenth of the time, so that a large list does not wear the server out; but nobody waits for long.
 *
 * Memory: for each of the last things, when it may be read again. What is lost with it: a read may come too early.
 */
import type { Millis } from "../base/brand.ts";
import { createLru } from "../base/lru.ts";
import type { World } from "../base/world.ts";

export type Read = (what: string, signal: AbortSignal) => Promise<void>;

const thingsMax = 1_000;
/** After a read, nine times as long passes without one. It may have been slow for other reasons than its size. */
const pauseFactor = 9;
const pauseMsMax: Millis = 5_000;

export function shareReads(read: Read, world: Pick<World, "elapsed" | "sleep">): Read {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();
  const pausedUntil = createLru<Millis>(thingsMax);

  const untilDue = async (what: string, signal: AbortSignal): Promise<void> => {
    await running.get(what)?.catch(() => undefined);
    const pauseMs = (pausedUntil.get(what) ?? 0) - world.elapsed();
    if (pauseMs > 0) await world.sleep(pauseMs, signal);
  };
  const readInTurn: Read = async (what, signal) => {
    // Whoever asks from the moment it begins needs a later one.
    await untilDue(what, signal).finally(() => waiting.delete(what));
    const beganAt = world.elapsed();
    const reading = read(what, signal);
    running.set(what, reading);
    try {
      await reading;
    } finally {
      running.delete(what);
      const endedAt = world.elapsed();
      pausedUntil.set(what, endedAt + Math.min(pauseFactor * (endedAt - beganAt), pauseMsMax));
    }
  };
  return (what, signal) => {
    const shared = waiting.get(what) ?? readInTurn(what, signal);
    waiting.set(what, shared);
    return shared;
  };
}
