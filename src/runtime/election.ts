/** Runs the work of a component at once, or, with leader election, while this process holds the component's lease. */
import { hostname } from "node:os";
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import { uuid, type World } from "../base/world.ts";
import type { KubeApi } from "../kube/api.ts";
import { namespaceIn, serviceAccountFolder } from "../kube/config-pod.ts";
import type { EventRecorder } from "../kube/events.ts";
import { type Leadership, lead } from "../kube/lease.ts";
import type { leaderFlags } from "./common-flags.ts";
import type { Options } from "./flag-kinds.ts";
import type { Component } from "./frame.ts";
import { leaderMetrics, type Metrics } from "./metrics.ts";

/** A component without a lease has none of these flags. */
export type LeaderOptions = Options<typeof leaderFlags> | { readonly leaderElection?: undefined };

export interface ElectionContext {
  readonly api: KubeApi;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  recordAs(source: string): EventRecorder["record"];
  onLeadership(leadership: Leadership): void;
  /** Called whenever the lease was read. */
  onLeaseRead(): void;
}

export async function runElected(
  component: Component,
  options: LeaderOptions,
  context: ElectionContext,
): Promise<void> {
  const { leaseName } = component;
  const { api, world, log, metrics, signal, recordAs } = context;
  if (options.leaderElection !== true || leaseName === undefined) return component.run(signal);
  // Two processes with one host name (host network, a restarted container) still need two identities.
  const identity = `${hostname()}_${uuid(world)}`;
  const { status, slow } = metrics.instruments(leaderMetrics);
  const labels = { name: leaseName };
  status.set(labels, 0);
  const showEnd = (): void => status.set(labels, 0);
  const end = await lead(
    {
      api,
      world,
      log,
      // Not the namespace of the kubeconfig's context: the replaced program uses the pod's, and a swap must find its lease.
      namespace: options.leaderElectionNamespace || (await namespaceIn(serviceAccountFolder)),
      name: leaseName,
      identity,
      record: recordAs(`${leaseName}/${identity}`),
      labels: options.leaderElectionLabels,
      leaseDurationMs: options.leaderElectionLeaseDuration,
      renewDeadlineMs: options.leaderElectionRenewDeadline,
      retryPeriodMs: options.leaderElectionRetryPeriod,
      signal,
      onRead: context.onLeaseRead,
      onSlowRenewal: () => slow.add(labels),
    },
    (leadership) => {
      context.onLeadership(leadership);
      status.set(labels, 1);
      return component.run(leadership.signal).finally(showEnd);
    },
  );
  if (end === "lost")
    throw new Fault("Aborted", `lost the lease ${leaseName}; ending so that a fresh start can stand by`);
}
