/**
 * Reads that several objects share: each waits for one that begins after it asked. In a burst all of them would read the same. A read
 * says how long the next one has to wait, so that large ones do not wear the server out; but nobody waits for long.
 *
 * Memory: for each of the last things, when it may be read again. What is lost with it: a read may come too early.
 */
import type { Millis } from "../base/brand.ts";
import { createLru } from "../base/lru.ts";
import type { World } from "../base/world.ts";

/** Reads a thing, and returns the pause until it may be read again. */
export type Read = (what: string, signal: AbortSignal) => Promise<Millis>;
export type SharedRead = (what: string, signal: AbortSignal) => Promise<void>;

const thingsMax = 1_000;
const pauseMsMax: Millis = 5_000;

export function shareReads(read: Read, world: Pick<World, "elapsed" | "sleep">): SharedRead {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<void>>();
  const pausedUntil = createLru<Millis>(thingsMax);

  const untilDue = async (what: string, signal: AbortSignal): Promise<void> => {
    await running.get(what)?.catch(() => undefined);
    const pauseMs = (pausedUntil.get(what) ?? 0) - world.elapsed();
    if (pauseMs > 0) await world.sleep(pauseMs, signal);
  };
  const readInTurn: SharedRead = async (what, signal) => {
    // Whoever asks from the moment it begins needs a later one.
    await untilDue(what, signal).finally(() => waiting.delete(what));
    const reading = read(what, signal);
    running.set(what, reading);
    try {
      pausedUntil.set(what, Math.min(await reading, pauseMsMax) + world.elapsed());
    } finally {
      running.delete(what);
    }
  };
  return (what, signal) => {
    const shared = waiting.get(what) ?? readInTurn(what, signal);
    waiting.set(what, shared);
    return shared;
  };
}
