/** The three controllers of the provisioner: over volumes that claims want, over stored volumes, and over the sources of both. */
import type { Backoff } from "../../base/backoff.ts";
import type { Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { type Controller, type ControllerObserver, createController } from "../../runtime/controller.ts";
import type { ProvisionerStores } from "./caches.ts";
import type { ClaimIndex } from "./claims/claim-index.ts";
import type { LookSoon } from "./consent/look-soon.ts";
import type { Rpc } from "./driver/act.ts";
import { nameInKey, type VolumeName } from "./identity.ts";
import type { ProvisionerAction } from "./plan-steps.ts";
import { observeSource, type SourceContext } from "./sources/observe.ts";
import { sourcePhaseOf } from "./sources/phase.ts";
import { planSource } from "./sources/plan.ts";
import { observeStored, type StoredContext } from "./stored-volumes/observe.ts";
import { storedPhaseOf } from "./stored-volumes/phase.ts";
import { planStored } from "./stored-volumes/plan.ts";
import { sourceTriggers, storedTriggers, volumeTriggers } from "./triggers.ts";
import { observeVolume, type VolumeContext } from "./volumes/observe.ts";
import { volumePhaseOf } from "./volumes/phase.ts";
import { planVolume } from "./volumes/plan.ts";

/** Other decisions than ours: the simulation shows that it notices wrong ones. */
export interface OtherPlans {
  readonly volume?: typeof planVolume;
  readonly stored?: typeof planStored;
  readonly source?: typeof planSource;
}

export interface ControllerParts {
  readonly stores: ProvisionerStores;
  readonly claims: ClaimIndex;
  readonly handlers: ActionHandlers<ProvisionerAction>;
  /** What each look needs beside the caches. */
  readonly context: {
    volume(): VolumeContext;
    stored(): StoredContext;
    source(): SourceContext;
  };
  readonly lookSoon: LookSoon;
  readonly plans: OtherPlans;
  readonly world: World;
  readonly log: Log;
  readonly backoff: Backoff;
  readonly resyncMs?: Millis | undefined;
  leading(): boolean;
  observer?(queue: string): ControllerObserver;
  /** Told of each look that failed. */
  failed(rpc: Rpc, name: VolumeName): void;
}

export interface Controllers {
  readonly volumes: Controller;
  readonly stored: Controller;
  readonly sources: Controller;
}

/** Volumes looked at while others wait for the driver: waiting costs nothing. */
const volumesAtOnce = 1_000;

export function createControllers(parts: ControllerParts): Controllers {
  const { stores, handlers, world, log, backoff, resyncMs, leading, context, plans, failed } = parts;
  const shared = (name: string) => ({
    ...{ name, stores, handlers, world, log, backoff, resyncMs, leading },
    workers: volumesAtOnce,
    observer: parts.observer?.(name),
  });
  return {
    volumes: createController({
      ...shared("csi-provisioner-claim"),
      triggers: volumeTriggers(parts.claims),
      context: context.volume,
      observe: observeVolume,
      remember: parts.lookSoon,
      phase: volumePhaseOf,
      plan: plans.volume ?? planVolume,
      onFailure: (key) => failed("CreateVolume", nameInKey(key)),
    }),
    stored: createController({
      ...shared("csi-provisioner-volume"),
      triggers: storedTriggers,
      context: context.stored,
      observe: observeStored,
      phase: storedPhaseOf,
      plan: plans.stored ?? planStored,
      onFailure: (key) => failed("DeleteVolume", nameInKey(key)),
    }),
    sources: createController({
      ...shared("csi-provisioner-source"),
      triggers: sourceTriggers,
      context: context.source,
      observe: observeSource,
      phase: sourcePhaseOf,
      plan: plans.source ?? planSource,
    }),
  };
}
