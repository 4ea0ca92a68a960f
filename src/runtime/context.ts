/** The context of a component that shares its process with others: no flags, no lease, no HTTP server of its own. */
import type { Backoff } from "../base/backoff.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { createEventRecorder } from "../kube/events.ts";
import type { ComponentContext } from "./component.ts";
import { controllerObservers } from "./measure.ts";
import { createMetrics } from "./metrics.ts";

export interface LocalContextOptions {
  /** The component's name. */
  readonly name: string;
  readonly api: ComponentContext["api"];
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly workers: number;
  readonly backoff: Backoff;
}

export function createLocalContext({ name, api, world, log, ...options }: LocalContextOptions): ComponentContext {
  const metrics = createMetrics();
  return {
    api,
    world,
    log,
    metrics,
    ...options,
    resyncMs: 0,
    leading: () => true,
    refusal: () => undefined,
    recordAs: (source, isBusy) => createEventRecorder({ api, world, log, component: source, isBusy }).record,
    observer: controllerObservers(metrics, name),
  };
}
