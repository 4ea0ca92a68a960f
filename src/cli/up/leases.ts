/** A Lease for each component of the process, held as in a cluster: `explain`, `status` and `gather` see by it who runs. */
import { hostname } from "node:os";
import { silent } from "../../base/log.ts";
import { uuid, type World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { lead } from "../../kube/lease.ts";
import type { Component } from "../../runtime/frame.ts";

/** Where the components of a cluster usually are. */
const namespace = "kube-system";
/** Upstream's times. Nobody competes: what a killed process has left has gone with its API server. */
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 } as const;

interface LeaseContext {
  readonly api: KubeApi;
  readonly world: World;
  readonly signal: AbortSignal;
}

/** Resolves when the signal has aborted and the leases are released. The components work whether they are held or not. */
export async function holdLeases(components: readonly Component[], context: LeaseContext): Promise<void> {
  const identity = `${hostname()}_${uuid(context.world)}`;
  const names = components.flatMap(({ leaseName }) => (leaseName === undefined ? [] : [leaseName]));
  await Promise.all(
    names.map(async (name) => {
      // That a process leads itself is no news.
      const options = { ...context, ...times, log: silent, namespace, name, identity };
      while (!context.signal.aborted) await lead(options, ({ signal }) => abortOf(signal));
    }),
  );
}

const abortOf = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
