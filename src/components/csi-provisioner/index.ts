/** The csi-provisioner sidecar: controllers over volumes to create, stored volumes, and sources. This file only wires. */
import type { CodedEvent } from "../../api/plan.ts";
import { type KubeObject, keyOf, type PersistentVolume } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import type { Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi, PathReader } from "../../kube/api.ts";
import type { LeaseTerm } from "../../kube/lease-record.ts";
import type { SharedStores } from "../../kube/shared-stores.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import type { ControllerObserver } from "../../runtime/controller.ts";
import { createCaches, type ProvisionerStores } from "./caches.ts";
import { createAttributesReader } from "./claims/attributes-reader.ts";
import { createClaimIndex } from "./claims/claim-index.ts";
import { createConsentCheck, createDisclosure, deniedUnlessRead } from "./consent/consent.ts";
import { createLookSoon } from "./consent/look-soon.ts";
import { createContexts } from "./contexts.ts";
import { createControllers, type OtherPlans } from "./controllers.ts";
import type { Rpc } from "./driver/act.ts";
import type { VolumeTarget } from "./driver/target.ts";
import { follow } from "./follow.ts";
import { createProvisionerHandlers } from "./handlers.ts";
import { uidOfVolume, type VolumeName, volumeKey } from "./identity.ts";
import { createLookAgain } from "./look-again.ts";
import { createProvisionerMemory } from "./memory.ts";
import type { DriverFacts, OptionalKinds, ProvisionerOptions } from "./options.ts";
import { createSnapshotReader } from "./sources/snapshot-reader.ts";
import { sourceId } from "./sources/source.ts";
import { loadWhenServed } from "./stored-calls/load.ts";
import { isProtected } from "./triggers.ts";

/** What the process gives to each of its components. */
export interface ProvisionerProcess {
  readonly api: KubeApi & PathReader;
  readonly world: World;
  readonly log: Log;
  readonly backoff: Backoff;
  readonly resyncMs?: Millis | undefined;
  leading(): boolean;
  /** Which turn of the election this process has; absent: there is none. */
  readonly term?: (() => LeaseTerm | undefined) | undefined;
  /** The caches of a process with several controllers. */
  readonly shared?: SharedStores | undefined;
  record(about: KubeObject, event: CodedEvent): void;
  observer?(queue: string): ControllerObserver;
}

export interface CsiProvisionerDeps {
  readonly process: ProvisionerProcess;
  readonly csi: CsiClient;
  /** Asked at each look: a driver may restart as another version. */
  driver(): DriverFacts;
  readonly options: ProvisionerOptions;
  readonly optional: OptionalKinds;
  /** Where CreateVolume calls are stored before they are sent. */
  readonly intents: { readonly namespace: string; readonly name: string };
  /** What this process writes into volumeAttributes. */
  readonly identity: string;
  readonly callsAtOnce: number;
  /** Before a claim is taken for the own node. */
  readonly takingDelay?: Backoff | undefined;
  readonly plans?: OtherPlans | undefined;
  readonly counts?: Partial<Counts> | undefined;
}

export interface Counts {
  /** Called for each attempt that failed. */
  failed(rpc: Rpc, about: KubeObject | undefined): void;
  succeeded(what: "created" | "deleted", about: KubeObject, tookMs: Millis): void;
}

export interface CsiProvisioner {
  readonly stores: ProvisionerStores;
  /** Keeps the caches current until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** To be called when the driver's capabilities have changed: everything is looked at again. */
  factsChanged(): void;
  /** Whether PersistentVolumes are being stored, or wait until they are bound: what can wait is better sent later. */
  isBusy(): boolean;
  /** To be called when VolumeSnapshots may be updated from now on: those that are protected are looked at. */
  mayUnprotect(): void;
}

export function createCsiProvisioner(deps: CsiProvisionerDeps): CsiProvisioner {
  const { process, driver, options, optional, counts, csi, callsAtOnce, identity } = deps;
  const { api, world, log, leading, record } = process;
  const { snapshots, contents, grants, links } = optional;
  const { stores, watch } = createCaches(options, driver(), log, process.shared);
  const claims = createClaimIndex(stores, options, links);
  const lookAgain = createLookAgain(claims, () => controllers);
  const cluster = createActionHandlers({ api, stores: withSnapshots(stores, snapshots), leading, record });
  const volumeOf = (name: VolumeName): PersistentVolume | undefined => stores.PersistentVolume.get(volumeKey(name));
  const memory = createProvisionerMemory({
    ...process,
    ...deps.intents,
    ...{ options, stores, claims, lookAgain, volumeOf, takingDelay: deps.takingDelay },
    snapshotOf: (key) => snapshots.current()?.get(key),
    replace: cluster.replace,
  });
  const reader = createSnapshotReader({ api, world, cached: snapshots.current, contents: () => contents?.current() });
  const attributes = createAttributesReader(api, world);
  const failed = (rpc: Rpc, name: VolumeName): void =>
    counts?.failed?.(rpc, rpc === "CreateVolume" ? claims.claimOf(name) : volumeOf(name));
  let stopSignal: AbortSignal | undefined;

  const handlers = createProvisionerHandlers({
    ...process,
    ...{ csi, callsAtOnce, cluster, memory, snapshots: reader, attributes, lookAgain },
    isConsented: deniedUnlessRead(createConsentCheck({ api, grants }), log),
    mayTell: createDisclosure(grants),
    stopping: () => stopSignal?.aborted === true,
    exists: (target) => existsIn(volumeOf, target),
    claimOf: claims.claimOf,
    isStored: (name) => volumeOf(name) !== undefined,
    denied: (about) => counts?.failed?.("CreateVolume", about),
    failed: (rpc, { metadata }) => failed(rpc, metadata.name),
    count: (what, about, tookMs) => counts?.succeeded?.(what, about, tookMs),
  });
  const controllers = createControllers({
    ...process,
    ...{ stores, claims, handlers, failed, plans: deps.plans ?? {} },
    context: createContexts({ memory, attributes, reader, optional, options, identity, world, driver }),
    lookSoon: createLookSoon(links, grants),
  });
  follow({ stores, claims, memory, snapshots, grants, links, queues: controllers });

  const mayUnprotect = (): void => {
    for (const snapshot of snapshots.current()?.all() ?? [])
      if (isProtected(snapshot, "snapshot"))
        controllers.sources.trigger(sourceId({ kind: "snapshot", key: keyOf(snapshot) }));
  };
  return {
    stores,
    mayUnprotect,
    isBusy: memory.writes.areUnderWay,
    watch: (signal) => watch(api, { world, log, signal }),
    run: async (signal) => {
      stopSignal = signal;
      const { intents, adopt } = memory;
      await loadWhenServed({ ...process, intents, lease: deps.intents }, signal);
      if (signal.aborted) return;
      for (const [name] of intents.all()) adopt(name);
      mayUnprotect();
      await Promise.all(Object.values(controllers).map((controller) => controller.run(signal)));
      await intents.close();
    },
    factsChanged: () => {
      controllers.volumes.resync();
      controllers.stored.resync();
    },
  };
}

/** Replies to writes go into the cache of VolumeSnapshots, too, while there is one. */
const withSnapshots = (stores: ProvisionerStores, snapshots: OptionalKinds["snapshots"]): ProvisionerStores => ({
  ...stores,
  get VolumeSnapshot() {
    return snapshots.current();
  },
});

/** A volume that a claim wants has no object of its own that could be gone. */
const existsIn = (volumeOf: (name: VolumeName) => PersistentVolume | undefined, target: VolumeTarget): boolean => {
  if (target.kind !== "stored") return true;
  const volume = volumeOf(target.metadata.name);
  return volume !== undefined && uidOfVolume(volume) === target.metadata.uid;
};
