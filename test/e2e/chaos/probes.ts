/** Recovery, as a user sees it: from the moment of a fault until a snapshot asked for after it is ready. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosHarness } from "./harness.ts";
import type { Intentions } from "./intentions.ts";
import { createUserClient } from "./user-client.ts";

export interface Recovery {
  readonly after: string;
  readonly ms: number;
}

export interface Probes {
  readonly recoveries: readonly Recovery[];
  /** Asks for a snapshot now and notes how long after `since` it is ready; `after` may be decided when that is known. */
  probe(after: string | (() => string), since?: number): Promise<void>;
  /** Until the last one's snapshot is asked to go. */
  settled(): Promise<void>;
}

const claim = "probed";
/** A user looks at what was taken before throwing it away. */
const lookMs = 1_200;

export async function createProbes(harness: ChaosHarness, intentions: Intentions): Promise<Probes> {
  const handler = createUserClient(harness, intentions);
  await handler.claim(claim);
  const recoveries: Recovery[] = [];
  const leaving = new Set<Promise<void>>();
  let counter = 0;
  return {
    recoveries,
    probe: async (after, since = performance.now()) => {
      counter += 1;
      try {
        const request = await handler.take(`probe-${counter}`, claim, "Delete");
        await handler.untilReady(request);
        const ms = performance.now() - since;
        recoveries.push({ after: typeof after === "string" ? after : after(), ms });
        const left = sleep(lookMs).then(() => handler.remove(request));
        leaving.add(left);
        void left.finally(() => leaving.delete(left));
      } catch (reason) {
        intentions.complaints.push((reason as Error).message);
      }
    },
    settled: async () => void (await Promise.all(leaving)),
  };
}
