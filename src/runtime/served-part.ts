/**
 * A part of a component that works on kinds that a cluster need not have: it runs while all of them are served and may be read. Both
 * are asked for first, and again and again, so it starts when the CRDs are installed or the rights granted, ends when they go, and
 * no request of it is ever denied.
 */
import { type KindName, kindRows } from "../api/kinds.ts";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { controllerUnder, type World } from "../base/world.ts";
import { mayRead } from "../kube/access.ts";
import type { KubeApi, PathAsker, VersionFinder } from "../kube/api.ts";

export interface ServedPartOptions {
  readonly api: KubeApi & PathAsker & VersionFinder;
  readonly world: World;
  readonly log: Log;
  readonly name: string;
  readonly kinds: readonly KindName[];
  readonly recheckMs?: Millis | undefined;
}

export interface ServedPart {
  /** undefined: the server has not said yet. */
  isServed(): boolean | undefined;
  /** Runs `work` while the kinds are served, until the signal aborts. */
  run(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

export function createServedPart(options: ServedPartOptions): ServedPart {
  const { api, world, name, kinds, recheckMs = limits.optionalKindRecheckMs } = options;
  const log = options.log.with({ part: name });
  let served: boolean | undefined;

  /** The kind that stands in the way; undefined: none. */
  const missing = async (signal: AbortSignal): Promise<string | undefined> => {
    for (const kind of kinds) {
      const { group, plural } = kindRows[kind];
      if ((await api.findVersion(kind, { signal })) === undefined) return `${plural}.${group} is not served`;
      if (!(await mayRead(api, kind, { signal })))
        return `${plural}.${group} is served but may not be read: grant get, list and watch in a ClusterRole`;
    }
    return undefined;
  };
  /** Undefined: the server could not say. Whatever was known before still holds. */
  const look = async (signal: AbortSignal): Promise<boolean | undefined> => {
    try {
      const why = await missing(signal);
      const isServed = why === undefined;
      // Served from the start on is what is expected.
      if (isServed !== served && (why !== undefined || served === false))
        log.info(isServed ? "kinds are served" : "kinds are not usable", why ? { why } : {});
      return isServed;
    } catch (reason) {
      log.debug("cannot find out whether kinds are served", { reason: Fault.from(reason).message });
      return undefined;
    }
  };
  const pause = (ms: Millis, signal: AbortSignal): Promise<void> => world.sleep(ms, signal).catch(() => undefined);

  /** Discovery can be without a kind for a moment while its CRD is changed: it is asked a second time. */
  const untilLost = async (signal: AbortSignal): Promise<void> => {
    for (let isMissing = false; !signal.aborted; ) {
      await pause(isMissing ? limits.optionalKindRetryMs : recheckMs, signal);
      if (signal.aborted) return;
      const found = await look(signal);
      if (found === false && isMissing) return;
      isMissing = found === false;
    }
  };

  return {
    isServed: () => served,
    run: async (signal, work) => {
      while (!signal.aborted) {
        const found = await look(signal);
        served = found ?? served;
        if (found !== true) {
          await pause(found === undefined ? limits.optionalKindRetryMs : recheckMs, signal);
          continue;
        }
        const { own: stop, release } = controllerUnder(signal);
        const working = work(stop.signal);
        await untilLost(signal);
        if (!signal.aborted) served = false;
        stop.abort(new Fault("Cancelled", "the kinds are no longer served or read"));
        await working;
        release();
      }
    },
  };
}
