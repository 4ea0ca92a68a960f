/** The csi-provisioner sidecar: controllers over volumes to create, stored volumes, and sources. This file only wires. */
import type { CodedEvent } from "../../api/plan.ts";
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Backoff, backoffMs } from "../../base/backoff.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import { loggable } from "../../base/fault.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi, PathReader } from "../../kube/api.ts";
import type { LeaseTerm } from "../../kube/lease-record.ts";
import type { OptionalStore } from "../../kube/optional-store.ts";
import { type GrantFrom, referrersIn } from "../../rules/reference-grant.ts";
import { createActionHandlers } from "../../runtime/action-handlers.ts";
import { type ControllerObserver, createController, type Triggers } from "../../runtime/controller.ts";
import type { Grants } from "../../runtime/grants.ts";
import type { Links } from "../../runtime/links.ts";
import { consentId, createCaches, type ProvisionerStores } from "./caches.ts";
import { createAttributesReader } from "./claims/attributes-reader.ts";
import { volumeNameFor } from "./claims/claim.ts";
import { createConsentCheck } from "./consent/consent.ts";
import type { Rpc } from "./driver/act.ts";
import { createRemembered } from "./driver/remembered.ts";
import { createProvisionerHandlers } from "./handlers.ts";
import type { DriverFacts, ProvisionerOptions } from "./options.ts";
import { sourcePhaseOf } from "./sources/phase.ts";
import { planSource } from "./sources/plan.ts";
import { createSnapshotReader } from "./sources/snapshot-reader.ts";
import { type SourceObject, sourceFinalizers, sourceId, sourceIn } from "./sources/source.ts";
import { createSourceProtection } from "./sources/source-protection.ts";
import { createIntentLog } from "./stored-calls/intent-log.ts";
import { storedPhaseOf } from "./stored-volumes/phase.ts";
import { planStored } from "./stored-volumes/plan.ts";
import { observeSource, observeStoredVolume, observeVolume, type VolumeMemory } from "./volumes/observe.ts";
import { volumePhaseOf } from "./volumes/phase.ts";
import { planVolume } from "./volumes/plan.ts";
import { createUnconfirmedClaims } from "./volumes/unconfirmed-claims.ts";
import { createVolumeWrites } from "./volumes/volume-writes.ts";

export interface CsiProvisionerDeps {
  readonly api: KubeApi & PathReader;
  readonly csi: CsiClient;
  /** Asked at each look: a driver may restart as another version. */
  driver(): DriverFacts;
  readonly options: ProvisionerOptions;
  /** VolumeSnapshots, where they are served and may be watched. */
  readonly snapshots: Pick<OptionalStore<"VolumeSnapshot">, "current" | "onChange">;
  /** ReferenceGrants; undefined: sources that are named with a namespace are not served. */
  readonly grants?: Pick<Grants, "finder" | "isStill" | "lookSoon" | "onChange"> | undefined;
  /** VolumeSnapshotLinks; undefined: they are left to another populator. */
  readonly links?: Omit<Links, "watch" | "known" | "isUndecided"> | undefined;
  /** VolumeSnapshotContents, where they are served and may be watched. */
  readonly contents?: Pick<OptionalStore<"VolumeSnapshotContent">, "current"> | undefined;
  /** Whether VolumeSnapshots may be updated. */
  mayProtectSnapshots(): boolean;
  /** Where CreateVolume calls are stored before they are sent. */
  readonly intents: { readonly namespace: string; readonly name: string };
  /** What this process writes into volumeAttributes. */
  readonly identity: string;
  readonly world: World;
  readonly log: Log;
  readonly callsAtOnce: number;
  readonly backoff: Backoff;
  /** Before a claim is taken for the own node. */
  readonly takingDelay?: Backoff | undefined;
  readonly resyncMs?: Millis | undefined;
  leading(): boolean;
  /** Which turn of the election this process has; absent: there is none. */
  readonly term?: (() => LeaseTerm | undefined) | undefined;
  /** Other decisions than ours: the simulation shows that it notices wrong ones. */
  readonly plans?:
    | Partial<{
        readonly volume: typeof planVolume;
        readonly stored: typeof planStored;
        readonly source: typeof planSource;
      }>
    | undefined;
  /** Called for each attempt that failed. */
  failed?(rpc: Rpc, about: KubeObject | undefined): void;
  count?(what: "created" | "deleted", about: KubeObject, tookMs: Millis): void;
  record(about: KubeObject, event: CodedEvent): void;
  observer?(queue: string): ControllerObserver;
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

/** Volumes looked at while others wait for the driver: waiting costs nothing. */
const volumesAtOnce = 1_000;

export function createCsiProvisioner(deps: CsiProvisionerDeps): CsiProvisioner {
  const { api, driver, options, world, log, leading, term, snapshots } = deps;
  const { stores, watch } = createCaches(options, driver(), log);
  const allStores = {
    ...stores,
    get VolumeSnapshot() {
      return snapshots.current();
    },
  };
  const cluster = createActionHandlers({ api, stores: allStores as typeof stores, leading, record: deps.record });
  const volumeOf = (name: string): PersistentVolume | undefined => stores.PersistentVolume.get(keyIn(undefined, name));
  const writes = createVolumeWrites({
    world,
    volumes: stores.PersistentVolume,
    volumeOf,
    onEnd: (name) => {
      // Its finalizer, or its deletion, has waited for the request.
      if (volumeOf(name) !== undefined) stored.trigger(keyIn(undefined, name));
    },
  });
  /** A call that another process has stored. */
  const adopted = (name: string): void => {
    writes.expect(name);
    volumes.trigger(keyIn(undefined, name));
  };
  const nameFor = (claimUid: string): string => volumeNameFor(options, claimUid);
  const intents = createIntentLog({ api, world, log, nameFor, leading, term, adopted, ...deps.intents });
  const reader = createSnapshotReader({
    api,
    world,
    cached: snapshots.current,
    contents: () => deps.contents?.current(),
  });
  const attributes = createAttributesReader(api, world);
  const remembered = createRemembered(world, deps.backoff, deps.takingDelay);
  const protection = createSourceProtection({
    snapshotOf: (key) => snapshots.current()?.get(key),
    claimOf: (key) => stores.PersistentVolumeClaim.get(key),
    intents,
    replace: cluster.replace,
  });
  let stopSignal: AbortSignal | undefined;

  const memoryOf = (uid: string): VolumeMemory => ({
    ...remembered.memoryOf(uid),
    isUncertain: intents.isUncertain(uid),
    isAdopted: intents.isAdopted(uid),
    mayBePublished: intents.mayBePublished(uid),
    lateVolumeMs: writes.lateMs(uid),
    isUnconfirmed: unconfirmed.has(claimOf(uid)?.metadata.uid ?? ""),
    identity: deps.identity,
    watchesSnapshots: snapshots.current() !== undefined,
    protectsSnapshots: snapshots.current() !== undefined && deps.mayProtectSnapshots(),
  });
  const isServed = ({ kind }: GrantFrom): boolean =>
    kind === "VolumeSnapshotLink" ? deps.links !== undefined : options.crossNamespace === true;
  const around = () => ({
    nowMs: world.now(),
    stores,
    driver: driver(),
    options,
    intentOf: intents.get,
    snapshotPair: reader.pair,
    grants: () => ({ isOn: isServed, find: deps.grants?.finder() }),
    links: deps.links,
    attributesClass: attributes.get,
  });
  const volumeKeyOf = ({ metadata }: PersistentVolumeClaim): Key => keyIn(undefined, nameFor(metadata.uid));
  const claimOf = (name: string): PersistentVolumeClaim | undefined =>
    stores.PersistentVolumeClaim.by("volume", name)[0];
  const claimsByLink = (link: Key): readonly PersistentVolumeClaim[] => stores.PersistentVolumeClaim.by("link", link);
  const claimsFrom = (source: SourceObject): readonly Key[] => {
    const links = source.kind === "snapshot" ? (deps.links?.pointingAt(source.key) ?? []) : [];
    return [...stores.PersistentVolumeClaim.by("source", sourceId(source)), ...links.flatMap(claimsByLink)].map(
      volumeKeyOf,
    );
  };

  const unconfirmed = createUnconfirmedClaims(stores.PersistentVolumeClaim, stores.PersistentVolume, claimOf);
  const handlers = createProvisionerHandlers({
    ...deps,
    cluster,
    unconfirmed,
    intents,
    remembered,
    protection,
    reader,
    attributes,
    storing: writes.store,
    isConsented: createConsentCheck({ api, grants: deps.grants }),
    mayTell: async (from, to, signal) => {
      const grant = deps.grants?.finder()?.(from, to);
      return grant !== undefined && (await deps.grants?.isStill(grant, from, to, signal)) === true;
    },
    triggerAttributes: (name) => {
      for (const claim of stores.PersistentVolumeClaim.by("attributes", name)) volumes.trigger(volumeKeyOf(claim));
    },
    stopping: () => stopSignal?.aborted === true,
    // A volume without a PersistentVolume is known by its name, or by name and id.
    exists: ({ metadata: { name, uid } }) =>
      uid === name || uid.startsWith(`${name} `) || volumeOf(name)?.metadata.uid === uid,
    claimOf,
    isStored: (name) => volumeOf(name) !== undefined,
    triggerVolume: (key, afterMs) => volumes.trigger(key, afterMs),
    triggerStored: (key) => stored.trigger(key),
    triggerSource: (source, afterMs) => {
      sources.trigger(sourceId(source), afterMs);
      if (afterMs === undefined) for (const key of claimsFrom(source)) volumes.trigger(key);
    },
    denied: (about) => deps.failed?.("CreateVolume", about),
    failed: (rpc, { metadata: { name } }) =>
      deps.failed?.(rpc, rpc === "CreateVolume" ? claimOf(name) : volumeOf(name)),
    count: (what, about, tookMs) => deps.count?.(what, about, tookMs),
  });

  const volumeTriggers: Triggers<ProvisionerStores> = {
    PersistentVolumeClaim: (claim) => [volumeKeyOf(claim), ...claimsFrom({ kind: "claim", key: keyOf(claim) })],
    PersistentVolume: ({ metadata, spec }) => [
      keyIn(undefined, metadata.name),
      ...claimsFrom({ kind: "claim", key: keyIn(spec?.claimRef?.namespace, spec?.claimRef?.name ?? "") }),
    ],
    StorageClass: ({ metadata }, seen) => seen.PersistentVolumeClaim.by("class", metadata.name).map(volumeKeyOf),
  };
  const storedTriggers: Triggers<ProvisionerStores> = {
    PersistentVolume: ({ metadata }) => [keyIn(undefined, metadata.name)],
    VolumeAttachment: ({ spec }) =>
      spec?.source?.persistentVolumeName ? [keyIn(undefined, spec.source.persistentVolumeName)] : [],
  };
  const isProtected = ({ metadata }: KubeObject, kind: SourceObject["kind"]): boolean =>
    metadata.finalizers?.includes(sourceFinalizers[kind]) === true;
  const sourceTriggers: Triggers<ProvisionerStores> = {
    PersistentVolumeClaim: (claim) =>
      isProtected(claim, "claim") ? [sourceId({ kind: "claim", key: keyOf(claim) })] : [],
  };

  const shared = (name: string) => ({
    name,
    stores,
    workers: volumesAtOnce,
    world,
    log,
    backoff: deps.backoff,
    resyncMs: deps.resyncMs,
    leading,
    handlers,
    observer: deps.observer?.(name),
  });
  const volumes = createController({
    ...shared("csi-provisioner-claim"),
    triggers: volumeTriggers,
    observe: (_seen, key) => observeVolume(around(), key, memoryOf(String(key))),
    // Their CRD may have been installed, or the right to read them granted.
    remember: ({ facts: { source } }) => {
      if (source.kind === "unlinked" && source.why === "unreadable") deps.links?.lookSoon();
      if ("access" in source && source.access.kind === "denied" && source.access.why === "unreadable")
        deps.grants?.lookSoon();
    },
    phase: volumePhaseOf,
    plan: deps.plans?.volume ?? planVolume,
    onFailure: (key) => deps.failed?.("CreateVolume", claimOf(String(key))),
  });
  const stored = createController({
    ...shared("csi-provisioner-volume"),
    triggers: storedTriggers,
    observe: (_seen, key) =>
      observeStoredVolume(around(), key, ({ metadata: { name, uid } }) => ({
        ...memoryOf(uid),
        isBeingStored: writes.isInFlight(name),
      })),
    phase: storedPhaseOf,
    plan: deps.plans?.stored ?? planStored,
    onFailure: (key) => deps.failed?.("DeleteVolume", volumeOf(String(key))),
  });
  const sources = createController({
    ...shared("csi-provisioner-source"),
    triggers: sourceTriggers,
    observe: (_seen, id) =>
      observeSource(
        around(),
        sourceIn(id),
        // Calls of other nodes are not known here: their claims are.
        (used) => protection.isUsed(used) || (options.ownNode !== undefined && claimsFrom(used).length > 0),
        deps.mayProtectSnapshots() ? snapshots.current() : undefined,
      ),
    phase: sourcePhaseOf,
    plan: deps.plans?.source ?? planSource,
  });

  stores.PersistentVolume.onChange((before, after) => {
    if (before !== undefined && after === undefined) remembered.forget(before.metadata.uid);
    if (after !== undefined) remembered.forget(after.metadata.name);
  });
  stores.PersistentVolumeClaim.onChange((before, after) => {
    if (before === undefined || after !== undefined) return;
    const name = nameFor(before.metadata.uid);
    if (intents.get(name) === undefined) remembered.forget(name);
  });
  snapshots.onChange((before, after) => {
    const snapshot = after ?? before;
    if (snapshot === undefined) return;
    const source: SourceObject = { kind: "snapshot", key: keyOf(snapshot) };
    for (const key of claimsFrom(source)) volumes.trigger(key);
    if (isProtected(snapshot, "snapshot")) sources.trigger(sourceId(source));
  });

  /** Somebody who has to consent may have thought again. */
  const lookAgain = (claim: PersistentVolumeClaim): void => {
    remembered.forgetDenial(nameFor(claim.metadata.uid));
    volumes.trigger(volumeKeyOf(claim));
  };
  deps.grants?.onChange((before, after) => {
    const grant = after ?? before;
    const namespace = grant?.metadata.namespace ?? "";
    for (const from of grant === undefined ? [] : referrersIn(grant)) {
      const claims = stores.PersistentVolumeClaim.by("consent", consentId(namespace, from));
      for (const claim of [...claims, ...(deps.links?.across(from.namespace, namespace) ?? []).flatMap(claimsByLink)])
        lookAgain(claim);
    }
  });
  deps.links?.onChange((before, after) => {
    const link = after ?? before;
    for (const claim of link === undefined ? [] : claimsByLink(keyOf(link))) lookAgain(claim);
  });

  /** Nothing is decided before the stored calls are known, however long the server does not answer. */
  const loadIntents = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures++)
      try {
        return await intents.load(signal);
      } catch (reason) {
        if (signal.aborted) return;
        log.warn("stored CreateVolume calls cannot be read yet", { lease: deps.intents, reason: loggable(reason) });
        await world.sleep(backoffMs(deps.backoff, failures, world.random()), signal).catch(() => undefined);
      }
  };

  const triggerProtected = (): void => {
    for (const snapshot of snapshots.current()?.all() ?? [])
      if (isProtected(snapshot, "snapshot")) sources.trigger(sourceId({ kind: "snapshot", key: keyOf(snapshot) }));
  };

  return {
    stores,
    mayUnprotect: triggerProtected,
    isBusy: writes.areUnderWay,
    watch: (signal) => watch(api, { world, log, signal }),
    run: async (signal) => {
      stopSignal = signal;
      await loadIntents(signal);
      if (signal.aborted) return;
      for (const [name] of intents.all()) adopted(name);
      triggerProtected();
      await Promise.all([volumes, stored, sources].map((controller) => controller.run(signal)));
      await intents.close();
    },
    factsChanged: () => {
      volumes.resync();
      stored.resync();
    },
  };
}
