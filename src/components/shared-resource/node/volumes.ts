/**
 * All volumes of this node: published, kept current, unpublished. This file only wires.
 *
 *   share, source or permission changes ──▶ observe ──▶ phase ──▶ plan ──▶ follow, write or wipe
 *   the kubelet publishes               ──▶ observe ──▶ phase ──▶ plan ──▶ review, read, mount, write or refuse
 *
 * So many volumes are written at once, and as many workers are there beside: however much there is to write for others, a volume is
 * emptied at once.
 */
import { shareMemory } from "../../../api/share-memory.ts";
import type { Key } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { StoresOf } from "../../../kube/stores.ts";
import { type ControllerObserver, createController, type Triggers } from "../../../runtime/controller.ts";
import { createDecisions } from "../../../runtime/decisions.ts";
import { createVolumeHandlers } from "./act.ts";
import type { VolumeHost } from "./host.ts";
import { nodeLimits } from "./limits.ts";
import { createMemoryUse } from "./memory-use.ts";
import { createMounted } from "./mounted.ts";
import { type KnownLists, observeVolume, type VolumeContext, type VolumeView } from "./observe.ts";
import { observePublish } from "./observe-publish.ts";
import { phaseOf, type VolumePhase } from "./phase.ts";
import { planVolume, type VolumeAction } from "./plan.ts";
import type { MemoryLimits } from "./plan-memory.ts";
import { planPublish } from "./plan-publish.ts";
import type { PublishRequest } from "./plan-request.ts";
import { troubleOf } from "./plan-trouble.ts";
import { createPublish, type PublishCounts } from "./publish.ts";
import { recover } from "./recover.ts";
import type { Reviews } from "./reviews.ts";
import { createSerial } from "./serial.ts";
import { createShareReads } from "./share-reads.ts";
import type { Sources } from "./sources.ts";
import type { shareTable } from "./start.ts";
import { createStrays } from "./strays.ts";
import type { TroubledVolume, TroubleSummary } from "./trouble-reports.ts";
import type { Source, Subject, VolumeSpec } from "./types.ts";
import { createVolumeWriter } from "./volume-writer.ts";
import { createWriteTurns } from "./write-turns.ts";

type Stores = StoresOf<typeof shareTable>;

export interface VolumesOptions {
  readonly host: VolumeHost;
  readonly reviews: Reviews;
  readonly sources: Sources;
  readonly stores: Stores;
  /** Undefined: there is no API server yet. */
  lists(): KnownLists | undefined;
  /** Reads the share from the API server into the cache. */
  readShare(spec: Pick<VolumeSpec, "shareKind" | "share">): Promise<void>;
  /** False: no volume is refreshed, whatever it asks for. */
  readonly refreshResources: boolean;
  readonly memory: { readonly limits: MemoryLimits; readonly pageBytes: number };
  readonly counts: PublishCounts;
  readonly observer?: ControllerObserver | undefined;
  /** Other decisions than ours: the simulation shows that it notices wrong ones. */
  readonly plans?: { readonly volume?: typeof planVolume; readonly publish?: typeof planPublish } | undefined;
  readonly world: World;
  readonly log: Log;
}

export interface Volumes {
  /** Mounts and fills the volume of a permitted request. What fails leaves nothing behind. */
  publish(request: PublishRequest, signal: AbortSignal): Promise<void>;
  unpublish(id: string, target: string): Promise<void>;
  /** Takes over what an earlier process has mounted. To be called before all else. */
  recover(): Promise<void>;
  /** Keeps all volumes current until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  subjectChanged(subject: Subject): void;
  sourceChanged(source: Source): void;
  /** Looks at all volumes again. */
  resync(): void;
  count(): number;
  /** Those that are not as they should be. */
  inspect(): readonly TroubledVolume[];
  /** Those that are mounted without a record. */
  strays(): TroubleSummary;
  memoryBytes(): number;
}

/** Nothing is to be done: what failed before is over. */
const quiet: ReadonlySet<VolumePhase> = new Set(["unknown", "unread", "unusable", "current", "empty"]);

export function createVolumes(options: VolumesOptions): Volumes {
  const { host, reviews, sources, stores, memory, world, log, plans = {} } = options;
  const mounted = createMounted(options);
  const alone = createSerial();
  const strays = createStrays({ host, mounted, world, log });
  const shareReads = createShareReads(options);
  const trigger = (ids: readonly string[]): void => {
    for (const id of ids) controller.trigger(id as Key);
  };
  const memoryUse = createMemoryUse({ ...memory, onRoom: trigger });
  const writer = createVolumeWriter({ host, reviews, sources, memoryUse, pageBytes: memory.pageBytes, log });
  const turns = createWriteTurns(shareMemory.updatesAtOnceMax, (id) => trigger([id]));

  const context = (): VolumeContext => {
    const { refreshResources, lists } = options;
    const caches = { volumes: mounted, reviews, sources, shareReads, memoryUse };
    return { ...caches, refreshResources, lists: lists(), nowMs: world.now() };
  };
  const remember = (view: VolumeView): void => {
    const entry = mounted.get(view.facts.spec.id);
    const phase = phaseOf(view);
    if (entry === undefined) return;
    if (phase !== "full") entry.refusal = undefined;
    if (quiet.has(phase)) entry.failure = undefined;
  };

  const triggers: Triggers<Stores> = {
    SharedSecret: ({ metadata }) => mounted.ofShare({ shareKind: "SharedSecret", share: metadata.name }),
    SharedConfigMap: ({ metadata }) => mounted.ofShare({ shareKind: "SharedConfigMap", share: metadata.name }),
  };
  const controller = createController<Stores, VolumeContext, VolumeView, VolumeAction>({
    name: "shared-volumes",
    stores,
    // A kind that cannot be listed must not keep the volumes of the other one from being emptied.
    startsUnsynced: true,
    triggers,
    context,
    observe: observeVolume,
    remember,
    phase: phaseOf,
    plan: plans.volume ?? planVolume,
    handlers: createVolumeHandlers({ mounted, shareReads, writer, memoryUse, turns, log }),
    serial: (key, reconcile) => alone(key, reconcile).finally(() => turns.passOn(key)),
    workers: nodeLimits.looksAtOnceMax + shareMemory.updatesAtOnceMax,
    world,
    log,
    backoff: nodeLimits.updateRetry,
    observer: options.observer,
    onFailure: (key, { reason }) => {
      const entry = mounted.get(key);
      if (entry !== undefined) entry.failure = Fault.from(reason).message;
    },
  });
  const publish = createPublish({
    mounted,
    host,
    reviews,
    sources,
    writer,
    memoryUse,
    alone,
    counts: options.counts,
    plan: plans.publish ?? planPublish,
    decisions: createDecisions(log.with({ controller: "shared-publishes" }), world),
    log,
    observe: (request, asked) => observePublish(stores, { ...context(), request, memory: asked }, request.id as Key),
  });

  const lookRegularly = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await world.sleep(nodeLimits.inspectEveryMs, signal).catch(() => undefined);
      for (const id of memoryUse.unsettled()) {
        const spec = mounted.get(id)?.spec;
        if (spec !== undefined) await writer.measure(spec);
      }
      if (strays.summary().count > 0) await strays.look();
    }
  };

  return {
    publish: async (request, signal) => {
      await publish(request, signal);
      trigger([request.id]);
    },
    unpublish: (id, target) =>
      alone(id, async () => {
        const entry = mounted.get(id);
        await host.unmount({ id, target, spec: entry?.spec });
        // Published elsewhere, it stays there.
        if (entry !== undefined && entry.spec.target !== target) return;
        await host.records.remove(id);
        memoryUse.release(id);
        if (entry === undefined) return;
        mounted.remove(id);
        mounted.close(entry);
        trigger([id]);
      }),
    async recover() {
      await recover({ host, mounted, writer, volumeBytes: memory.limits.volumeBytes, log });
      await strays.look();
      trigger(mounted.all().map(({ spec }) => spec.id));
    },
    run: async (signal) => void (await Promise.all([lookRegularly(signal), controller.run(signal)])),
    subjectChanged: (subject) => trigger(mounted.ofSubject(subject)),
    sourceChanged: (source) => trigger(mounted.ofSource(source)),
    resync: () => trigger(mounted.all().map(({ spec }) => spec.id)),
    count: mounted.count,
    strays: strays.summary,
    memoryBytes: memoryUse.total,
    inspect: () =>
      mounted.all().flatMap(({ spec, failure }) => {
        const view = observeVolume(stores, context(), spec.id as Key);
        const trouble = view && troubleOf(view, failure);
        return trouble === undefined ? [] : [{ spec, trouble }];
      }),
  };
}
