/**
 * One turn of a controller: from its start until it is stopped, has failed or has lost its lease. What belongs to a turn ends with it: its
 * caches, its memory, and the right of its code to send anything.
 */
import { hostname } from "node:os";
import { Fault } from "../base/fault.ts";
import { createEventRecorder } from "../kube/events.ts";
import type { Leadership } from "../kube/lease.ts";
import type { LeaseTerm } from "../kube/lease-record.ts";
import type { workFlags } from "./common-flags.ts";
import type { ComponentContext, ComponentSpec } from "./component.ts";
import type { Clients } from "./connect.ts";
import { type LeaderOptions, runElected } from "./election.ts";
import type { Options } from "./flag-kinds.ts";
import type { Frame } from "./frame.ts";
import { createLeaderGuard, type LeaderGuard } from "./leader-guard.ts";
import { controllerObservers } from "./measure.ts";

export type TurnOptions = Options<typeof workFlags> & LeaderOptions;

export interface Turn {
  /** Asked before the first byte of whatever the turn sends. */
  readonly guard: LeaderGuard;
  /** True from the loss of the lease on. */
  isLost(): boolean;
  /** Nothing may be sent any more: said when the turn is over, whoever leads then. */
  end(): void;
  /** Returns when the work has ended; rejects with what the controller fails with, also when it loses its lease. */
  run(place: Frame, clients: Clients, more?: Pick<ComponentContext, "channelTo" | "shared">): Promise<void>;
  /** Resolves when nothing works any more and the lease is released or lost: a watch that fails ends `run` before. */
  settled(): Promise<void>;
}

export function createTurn(options: TurnOptions, { name, start }: Pick<ComponentSpec, "name" | "start">): Turn {
  let elects = options.leaderElection === true;
  let isOver = false;
  let leadership: Leadership | undefined;
  let electing = Promise.resolve();
  const leading = (): boolean => !isOver && (!elects || leadership?.stillLeading() === true);
  const guard = createLeaderGuard(leading);
  const term = (): LeaseTerm | undefined => leadership?.term();
  return {
    guard,
    isLost: () => leadership?.stillLeading() === false,
    settled: () => electing,
    end: () => {
      isOver = true;
    },
    run: async (place, clients, more) => {
      const { world, log, metrics, signal, onClose } = place;
      const context: ComponentContext = {
        ...{ ...clients, ...more, world, log, metrics, signal, leading, term },
        refusal: guard.ofCall,
        workers: options.workerThreads,
        backoff: { startMs: options.retryIntervalStart, maxMs: options.retryIntervalMax },
        resyncMs: options.resyncPeriod,
        recordAs: (source, isBusy) => {
          const events = createEventRecorder({
            ...{ api: clients.api, world, log, component: source, host: hostname(), isBusy },
          });
          onClose(() => events.close(eventsMsMax));
          return events.record;
        },
        observer: controllerObservers(metrics, name),
      };
      const component = await start(context);
      elects &&= component.leaseName !== undefined;
      let hasReadLease = !elects;
      // A rolling update ends the leader when a new replica is ready: that replica must be looking at the lease by then.
      const ready = () => component.ready?.() ?? (hasReadLease ? undefined : "the lease has not been read yet");
      place.show({ ...component, ready });
      const watching = new AbortController();
      onClose(() => watching.abort());
      const onLeadership = (gained: Leadership): void => {
        leadership = gained;
      };
      const onLeaseRead = (): void => {
        hasReadLease = true;
      };
      const working = runElected(component, options, { ...context, onLeadership, onLeaseRead });
      electing = working.catch(() => undefined);
      await Promise.race([failWhenEnded(component.watch?.(watching.signal), watching.signal), working]);
    },
  };
}

/** Time to send the events that wait when everything else has ended. */
const eventsMsMax = 2_000;

/** A watch that ends before it was stopped has failed; a stopped watch leaves the result to the work. */
async function failWhenEnded(watching: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  await watching;
  if (watching === undefined || signal.aborted) await new Promise<never>(() => undefined);
  throw new Fault("Internal", "the watch ended by itself");
}
