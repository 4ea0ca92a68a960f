/** A token bucket: `burst` requests at once, then `qps` per second, first come first served. */
import type { World } from "../base/world.ts";

export interface RateLimit {
  readonly qps: number;
  readonly burst: number;
}

export type Limiter = (signal?: AbortSignal) => Promise<void>;

export function createLimiter({ qps, burst }: RateLimit, world: Pick<World, "elapsed" | "sleep">): Limiter {
  let tokens = burst;
  let countedAt = world.elapsed();
  return async (signal) => {
    const now = world.elapsed();
    tokens = Math.min(burst, tokens + ((now - countedAt) / 1_000) * qps);
    countedAt = now;
    tokens -= 1;
    // Below zero a token is borrowed from the future, which also keeps the order of those who wait.
    if (tokens >= 0) return;
    try {
      await world.sleep((-tokens / qps) * 1_000, signal);
    } catch (reason) {
      tokens += 1;
      throw reason;
    }
  };
}
