/** The provisioner from its context and options: the driver, the controllers over claims and volumes, and what is measured of them. */
import { createVolumeCallsSuffix, leaseNameFrom } from "../../api/names.ts";
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { CsiClient } from "../../csi/client.ts";
import { openDriver } from "../../csi/driver.ts";
import type { Unary } from "../../csi/wire.ts";
import { createOptionalStore } from "../../kube/optional-store.ts";
import { createPermission } from "../../kube/permission.ts";
import { unsyncedIn } from "../../kube/stores.ts";
import { linkedSource, sourceOf } from "../../rules/data-source.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import type { Component } from "../../runtime/frame.ts";
import { createGrants } from "../../runtime/grants.ts";
import { createLinks, type Links } from "../../runtime/links.ts";
import type { Instruments } from "../../runtime/metrics.ts";
import type { CapacityOptions } from "./capacity/options.ts";
import { startCapacity } from "./capacity/start.ts";
import { classNameOf } from "./claims/claim.ts";
import type { OwnNode } from "./driver/own-node.ts";
import { type Counts, type CsiProvisionerDeps, createCsiProvisioner } from "./index.ts";
import { provisionerMetrics } from "./metrics.ts";
import { warnOfMigration } from "./migration.ts";
import type { ProvisionerOptions } from "./options.ts";
import { registerLinks } from "./populator-registration.ts";

export const name = "csi-provisioner";

export interface StartOptions extends Omit<ProvisionerOptions, "ownNode" | "publishesCapacity"> {
  readonly csiAddress: string;
  readonly timeout: Millis;
  /** False: the driver's topology is not used. */
  readonly topology?: boolean | undefined;
  readonly nodeDeployment?: boolean | undefined;
  readonly nodeName?: string | undefined;
  readonly nodeDeploymentImmediateBinding?: boolean | undefined;
  readonly nodeDeploymentBaseDelay?: Millis | undefined;
  readonly nodeDeploymentMaxDelay?: Millis | undefined;
  /** Where the Lease objects are. */
  readonly namespace: string;
  /** Undefined: storage capacity is not published. */
  readonly capacity?: CapacityOptions | undefined;
}

/** What runs in one process with its driver, or in the simulation, replaces. */
export interface Replacements extends Partial<Pick<CsiProvisionerDeps, "plans" | "identity">> {
  /** Carries calls to the driver instead of the socket at `csiAddress`. */
  readonly calls?: Unary | undefined;
  /** How often it is asked whether VolumeSnapshots are served and may be read and updated. */
  readonly recheckMs?: Millis | undefined;
}

export async function start(
  context: ComponentContext,
  options: StartOptions,
  { calls: carrier, recheckMs, ...replaced }: Replacements = {},
): Promise<Component> {
  const { api, world, log, signal, refusal } = context;
  const instruments = context.metrics.instruments(provisionerMetrics);
  const driver = await openDriver({
    address: options.csiAddress,
    calls: carrier,
    world,
    log,
    signal,
    refusal,
    channel: context.channelTo?.(options.csiAddress),
    timeoutMs: options.timeout,
    seconds: instruments.calls,
    needs: "CREATE_DELETE_VOLUME",
    otherwise: "does not create volumes (no CREATE_DELETE_VOLUME): do not run a csi-provisioner beside it",
  });
  warnOfMigration(driver.name, log);
  const announced = (await driver.csi.capabilities(signal)).plugin;
  const plugin = new Set(announced);
  if (options.topology === false) plugin.delete("VOLUME_ACCESSIBILITY_CONSTRAINTS");
  const reading = { api, world, log, recheckMs, shared: context.shared };
  const snapshots = createOptionalStore("VolumeSnapshot", reading);
  const contents = createOptionalStore("VolumeSnapshotContent", reading);
  const protecting = createPermission("VolumeSnapshot", "update", {
    ...reading,
    granted: () => provisioner.mayUnprotect(),
  });
  const links = options.crossNamespaceSnapshot ? createLinks(reading) : undefined;
  const grants = options.crossNamespace || links !== undefined ? createGrants(reading) : undefined;
  const ownNode = options.nodeDeployment === true ? await ownNodeOf(driver.csi, options, signal) : undefined;
  const leaseName = leaseNameFrom(driver.name);
  const intentsOf = leaseNameFrom([driver.name, ...(ownNode === undefined ? [] : [ownNode.name])].join("-"));
  const provisioner = createCsiProvisioner({
    ...replaced,
    process: { ...context, record: context.recordAs(`${name} ${driver.name}`, () => provisioner.isBusy()) },
    identity:
      replaced.identity ?? [world.now(), driver.name, ...(ownNode === undefined ? [] : [ownNode.name])].join("-"),
    csi: driver.csi,
    driver: () => ({ name: driver.name, plugin, controller: driver.capabilities() ?? new Set() }),
    options: { ...options, ownNode, publishesCapacity: options.capacity !== undefined },
    takingDelay: {
      startMs: options.nodeDeploymentBaseDelay ?? takingMs.base,
      maxMs: options.nodeDeploymentMaxDelay ?? takingMs.max,
    },
    optional: { snapshots, contents, grants, links, mayProtectSnapshots: protecting.isGranted },
    intents: { namespace: options.namespace, name: `${intentsOf}${createVolumeCallsSuffix}`.toLowerCase() },
    callsAtOnce: context.workers,
    counts: countsOf(instruments, links, (claim) => capacity?.failed(claim)),
  });
  driver.onRead(provisioner.factsChanged);
  const capacity = options.capacity && startCapacity(context, options.capacity, driver, provisioner.stores, ownNode);
  return {
    leaseName,
    watch: async (stop) => {
      const optional = [snapshots, contents, protecting, grants, links];
      await Promise.all([provisioner.watch(stop), ...[...optional, capacity].map((one) => one?.watch(stop))]);
    },
    run: async (stop) => {
      const optional = [snapshots, contents, grants, links];
      await Promise.all([protecting.known, ...optional.map((one) => one?.known(stop))]);
      if (grants !== undefined && grants.finder() === undefined)
        log.warn(
          "ReferenceGrants cannot be read: claims whose source is named with its namespace wait, all others are served",
          {
            remedy:
              "install their CRD (Gateway API) and grant get, list and watch of referencegrants.gateway.networking.k8s.io",
          },
        );
      await Promise.all([
        provisioner.run(stop),
        capacity?.run(stop),
        links && registerLinks({ api, world, log, leading: context.leading }, stop),
      ]);
    },
    ready: () => unsyncedIn(provisioner.stores),
  };
}

const takingMs = { base: 20_000, max: 60_000 };

async function ownNodeOf(csi: CsiClient, options: StartOptions, signal: AbortSignal): Promise<OwnNode> {
  const { accessibleTopology } = await csi.node.nodeGetInfo({}, { signal });
  return {
    name: options.nodeName ?? "",
    segments: accessibleTopology === undefined ? undefined : { ...accessibleTopology.segments },
    takesImmediate: options.nodeDeploymentImmediateBinding ?? true,
  };
}

/** A failed attempt to create a volume says that there may be no room. */
function countsOf(
  instruments: Instruments<typeof provisionerMetrics>,
  links: Pick<Links, "get"> | undefined,
  notCreated: (claim: PersistentVolumeClaim | undefined) => void,
): Counts {
  return {
    failed: (rpc, about) => {
      if (rpc === "DeleteVolume") return instruments.deleteFailed.add(volumeLabels(about));
      const across = acrossLabels(about, links);
      if (across !== undefined) instruments.crossFailed.add(across);
      instruments.provisionFailed.add(claimLabels(about));
      notCreated(about as PersistentVolumeClaim | undefined);
    },
    succeeded: (what, about, tookMs) => {
      if (what === "deleted") {
        instruments.deleted.add(volumeLabels(about));
        return instruments.deleteDuration.observe(volumeLabels(about), tookMs / 1000);
      }
      instruments.provisioned.add(claimLabels(about));
      const across = acrossLabels(about, links);
      if (across !== undefined) instruments.crossProvisioned.add(across);
      instruments.provisionDuration.observe(claimLabels(about), tookMs / 1000);
    },
  };
}

const claimLabels = (about: KubeObject | undefined) => {
  const claim = about as PersistentVolumeClaim | undefined;
  const source = claim?.spec?.dataSource ?? claim?.spec?.dataSourceRef;
  return { class: claim === undefined ? "" : classNameOf(claim), source: source?.kind ?? "" };
};
/** The labels of a claim whose source is named with its namespace: in the claim itself, or in a link. */
const acrossLabels = (about: KubeObject | undefined, links: Pick<Links, "get"> | undefined) => {
  const claim = about as PersistentVolumeClaim | undefined;
  if (claim === undefined) return undefined;
  const named = sourceOf(claim);
  const link = named.kind === "link" ? links?.get(keyIn(named.namespace, named.name)) : undefined;
  const source = link === undefined ? named : linkedSource(link);
  return source === undefined || !("referrer" in source) || source.referrer === undefined
    ? undefined
    : { class: classNameOf(claim), source: link === undefined ? "ref" : "link" };
};
const volumeLabels = (about: KubeObject | undefined) => ({
  class: (about as PersistentVolume | undefined)?.spec?.storageClassName ?? "",
});
