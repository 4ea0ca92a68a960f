/** Whether something may be done, asked of the server at the start and again and again, so that no call is ever denied. */
import type { KindName } from "../api/kinds.ts";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { mayDo } from "./access.ts";
import type { PathAsker } from "./api.ts";

export interface Permission {
  /** False until the server has said otherwise. */
  isGranted(): boolean;
  /** Resolves when the server was asked for the first time, whatever came of it, or when the watch has ended. */
  readonly known: Promise<void>;
  /** Asks until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface PermissionOptions {
  readonly api: PathAsker;
  readonly world: Pick<World, "sleep">;
  readonly log: Log;
  readonly recheckMs?: Millis | undefined;
  /** Called when it is granted, each time that it was not before. */
  granted?(): void;
}

export function createPermission(
  kind: KindName,
  verb: string,
  { api, world, log, recheckMs = limits.optionalKindRecheckMs, granted }: PermissionOptions,
): Permission {
  const known = Promise.withResolvers<void>();
  let isGranted = false;
  const ask = async (signal: AbortSignal): Promise<Millis> => {
    try {
      const before = isGranted;
      isGranted = await mayDo(api, kind, verb, { signal });
      if (isGranted && !before) granted?.();
      return recheckMs;
    } catch (reason) {
      log.debug("cannot find out what is allowed", { kind, verb, reason: Fault.from(reason).message });
      return limits.optionalKindRetryMs;
    } finally {
      known.resolve();
    }
  };
  return {
    isGranted: () => isGranted,
    known: known.promise,
    watch: async (signal) => {
      while (!signal.aborted) await world.sleep(await ask(signal), signal).catch(() => undefined);
      // A process that is stopped while it starts never asks, and must not wait for the reply.
      known.resolve();
    },
  };
}
