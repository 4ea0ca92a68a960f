/** The provisioner from its context and options: the driver, the controllers over claims and volumes, and what is measured of them. */
import { leaseNameFrom } from "../../api/names.ts";
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { openDriver } from "../../csi/driver.ts";
import type { Unary } from "../../csi/wire.ts";
import { createOptionalStore } from "../../kube/optional-store.ts";
import { createPermission } from "../../kube/permission.ts";
import { unsyncedIn } from "../../kube/stores.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import type { Component } from "../../runtime/frame.ts";
import { classNameOf } from "./claim.ts";
import { type CsiProvisionerDeps, createCsiProvisioner } from "./index.ts";
import { provisionerMetrics } from "./metrics.ts";
import type { ProvisionerOptions } from "./prepare.ts";

export const name = "csi-provisioner";

export interface StartOptions extends ProvisionerOptions {
  readonly csiAddress: string;
  readonly timeout: Millis;
  /** False: the driver's topology is not used. */
  readonly topology?: boolean | undefined;
  /** Of the Lease objects. */
  readonly namespace: string;
}

/** What runs in one process with its driver, or in the simulation, replaces. */
export interface Replacements extends Partial<Pick<CsiProvisionerDeps, "plans" | "identity">> {
  /** Carries calls to the driver instead of the socket at `csiAddress`. */
  readonly calls?: Unary | undefined;
}

export async function start(
  context: ComponentContext,
  options: StartOptions,
  { calls: carrier, ...replaced }: Replacements = {},
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
    timeoutMs: options.timeout,
    seconds: instruments.calls,
    needs: "CREATE_DELETE_VOLUME",
    otherwise: "does not create volumes (no CREATE_DELETE_VOLUME): do not run a csi-provisioner beside it",
  });
  const announced = (await driver.csi.capabilities(signal)).plugin;
  const plugin = new Set(announced);
  if (options.topology === false) plugin.delete("VOLUME_ACCESSIBILITY_CONSTRAINTS");
  const snapshots = createOptionalStore("VolumeSnapshot", { api, world, log });
  const protecting = createPermission("VolumeSnapshot", "update", { api, world, log });
  const leaseName = leaseNameFrom(driver.name);
  const provisioner = createCsiProvisioner({
    ...context,
    ...replaced,
    identity: replaced.identity ?? `${world.now()}-${driver.name}`,
    record: context.recordAs(`${name} ${driver.name}`),
    csi: driver.csi,
    driver: () => ({ name: driver.name, plugin, controller: driver.capabilities() ?? new Set() }),
    options,
    snapshots,
    mayProtectSnapshots: protecting.isGranted,
    intents: { namespace: options.namespace, name: `${leaseName}-create-volume-calls`.toLowerCase() },
    callsAtOnce: context.workers,
    failed: (rpc, about) => {
      if (rpc === "CreateVolume") instruments.provisionFailed.add(claimLabels(about));
      else instruments.deleteFailed.add(volumeLabels(about));
    },
    count: (what, about, tookMs) => {
      const [counter, duration, labels] =
        what === "created"
          ? ([instruments.provisioned, instruments.provisionDuration, claimLabels(about)] as const)
          : ([instruments.deleted, instruments.deleteDuration, volumeLabels(about)] as const);
      counter.add(labels as never);
      duration.observe(labels as never, tookMs / 1000);
    },
  });
  driver.onRead(provisioner.factsChanged);
  return {
    leaseName,
    watch: async (stop) => {
      await Promise.all([provisioner.watch(stop), snapshots.watch(stop), protecting.watch(stop)]);
    },
    run: async (stop) => {
      await Promise.all([snapshots.known(stop), protecting.known]);
      await provisioner.run(stop);
    },
    ready: () => unsyncedIn(provisioner.stores),
  };
}

const claimLabels = (about: KubeObject | undefined) => {
  const claim = about as PersistentVolumeClaim | undefined;
  const source = claim?.spec?.dataSource ?? claim?.spec?.dataSourceRef;
  return { class: claim === undefined ? "" : classNameOf(claim), source: source?.kind ?? "" };
};
const volumeLabels = (about: KubeObject | undefined) => ({
  class: (about as PersistentVolume | undefined)?.spec?.storageClassName ?? "",
});
