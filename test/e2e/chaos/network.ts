/** The small faults, between one replica and the API server: watch disconnects, delayed replies, replies lost after their effect. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosHarness } from "./harness.ts";
import type { Replica } from "./replica.ts";

export interface Network {
  /** Returns how many watches were disconnected; 0 if the replica has none open. */
  breakWatches(): number;
  /** Every reply to one replica comes late, for a while. */
  delayReplies(): Promise<void>;
  /** The next write of the replica that leads gets through, its reply does not; tells when that has happened. */
  loseReply(onLost: () => void): void;
  calm(): void;
}

const isWatch = (request: string): boolean => request.startsWith("GET ") && request.includes("watch=1");
const isWrite = (request: string): boolean => /^(POST|PUT|PATCH|DELETE) /.test(request) && !request.includes("/leases");

const delayMs = { min: 50, spread: 1_000 };
const delayedForMs = { min: 500, spread: 2_000 };

export function createNetwork({ replicas }: Pick<ChaosHarness, "replicas">, dice: () => number): Network {
  let calm = false;
  const waiting = new Set<Replica>();
  const drawn = <T>(list: readonly T[]): T | undefined => list[Math.floor(dice() * list.length)];

  const watchesOf = ({ proxy }: Replica): readonly string[] => {
    const watches: string[] = [];
    proxy.count((request) => isWatch(request) && watches.push(request) > 0);
    return watches;
  };
  return {
    breakWatches: () => {
      const replica = drawn(replicas);
      const lot = dice();
      const watch = replica === undefined ? undefined : drawn(watchesOf(replica));
      if (replica === undefined || watch === undefined) return 0;
      const isThis = (request: string): boolean => request === watch;
      // One in five takes all watches of the replica; one in five breaks off in the middle of the next event.
      if (lot < 0.2) return replica.proxy.disconnect(isWatch);
      return lot < 0.4 ? replica.proxy.truncate("cut", isThis) : replica.proxy.disconnect(isThis);
    },
    delayReplies: async () => {
      const proxy = drawn(replicas)?.proxy;
      proxy?.delayReplies(delayMs.min + dice() * delayMs.spread);
      await sleep(delayedForMs.min + dice() * delayedForMs.spread);
      proxy?.delayReplies(0);
    },
    loseReply: (onLost) => {
      // Whoever writes next: a replica that stands by does not.
      for (const replica of replicas.filter((one) => !waiting.has(one))) {
        waiting.add(replica);
        void replica.proxy
          .loseReply((request) => !calm && isWrite(request))
          .then(() => {
            waiting.delete(replica);
            onLost();
          });
      }
    },
    calm: () => {
      calm = true;
    },
  };
}
