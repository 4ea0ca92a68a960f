/** Candidates for a lease on an API server in memory and a virtual clock, and processes that can be stopped and continued. */

import { silent } from "../src/base/log.ts";
import type { World } from "../src/base/world.ts";
import type { KubeApi } from "../src/kube/api.ts";
import { type ElectionEnd, type Leadership, lead } from "../src/kube/lease.ts";
import type { FakeKube } from "./fake-kube.ts";
import type { VirtualWorld } from "./virtual-world.ts";

export const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };

export interface Elector {
  readonly name: string;
  /** The one handed to the work, once there is one. */
  leadership: Leadership | undefined;
  end: ElectionEnd | undefined;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve())));

export function elect(
  name: string,
  api: KubeApi,
  world: World,
  work = async ({ signal }: Leadership) => untilAborted(signal),
  labels: Record<string, string> = {},
): Elector {
  const stop = new AbortController();
  const options = { api, world, log: silent, namespace: "apps", name: "leader", identity: name, labels, ...times };
  const elector: Elector = {
    name,
    leadership: undefined,
    end: undefined,
    stop,
    done: lead({ ...options, signal: stop.signal }, (leadership) => {
      elector.leadership = leadership;
      return work(leadership);
    }).then((end) => {
      elector.end = end;
    }),
  };
  return elector;
}

export const leads = (elector: Elector): boolean => elector.leadership?.stillLeading() === true;
export const leaseOf = (kube: FakeKube) => kube.stored("Lease")[0]?.spec;

/** A process that can be stopped and continued: its timers and replies wait meanwhile, the clock does not. */
export function pausable(api: KubeApi, world: VirtualWorld) {
  let gate: PromiseWithResolvers<void> | undefined;
  const held = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result;
    } finally {
      while (gate !== undefined) await gate.promise;
    }
  };
  return {
    world: { ...world, sleep: (ms: number, signal?: AbortSignal) => held(world.sleep(ms, signal)) },
    api: {
      ...api,
      get: (...a: Parameters<KubeApi["get"]>) => held(api.get(...a)),
      create: (...a: Parameters<KubeApi["create"]>) => held(api.create(...a)),
      replace: (...a: Parameters<KubeApi["replace"]>) => held(api.replace(...a)),
    } as KubeApi,
    pause: () => {
      gate ??= Promise.withResolvers();
    },
    resume: () => {
      gate?.resolve();
      gate = undefined;
    },
  };
}
