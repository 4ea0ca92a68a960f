/** Nothing is decided before the stored calls are known, however long the server does not answer. */
import { type Backoff, backoffMs } from "../../../base/backoff.ts";
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { IntentLog } from "./intent-log.ts";

export interface LoadOptions {
  readonly intents: Pick<IntentLog, "load">;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly backoff: Backoff;
  readonly world: World;
  readonly log: Log;
}

/** Resolves when they are read, or the signal has aborted. */
export async function loadWhenServed(
  { intents, lease, backoff, world, log }: LoadOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++)
    try {
      return await intents.load(signal);
    } catch (reason) {
      if (signal.aborted) return;
      log.warn("stored CreateVolume calls cannot be read yet", { lease, reason: loggable(reason) });
      await world.sleep(backoffMs(backoff, failures, world.random()), signal).catch(() => undefined);
    }
}
