/** Volumes and snapshots from creation to deletion, with what happens rarely in between: the lives of three components. */
import assert from "node:assert/strict";
import type { KindName } from "../../../src/api/kinds.ts";
import { leaseName, leaseNamespace } from "../../../src/api/manifests/snapshot-controller.ts";
import type { Ref } from "../../../src/api/plan.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import type { GuideRight } from "../../guide-rights.ts";
import { startComponent } from "../harness/components.ts";
import { switches } from "../harness/cross-namespace.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import type { Daemon } from "../harness/instance.ts";
import { callSteps, type Replica } from "./call-steps.ts";
import { capacityEnvironment, capacityFlags, capacitySteps } from "./capacity-step.ts";
import { installation } from "./rights.ts";
import { sidecarSteps } from "./sidecar-steps.ts";
import { ignoreMissing, type Stage } from "./snapshot-stage.ts";
import { snapshotSteps } from "./snapshot-steps.ts";
import type { Life, Step, Trial } from "./trial.ts";

const names = ["snapshot-controller", "csi-snapshotter", "csi-provisioner"] as const;
type Component = (typeof names)[number];

const placeOf = (component: Component): string =>
  component === "snapshot-controller" ? leaseNamespace : installation.driverNamespace;
const socketOf = (component: Component, { driver }: Stage): readonly string[] =>
  component === "snapshot-controller" ? [] : [`--csi-address=${driver.socket}`];
const flagsOf = (component: Component, stage: Stage): readonly string[] => [
  ...socketOf(component, stage),
  "--leader-election=true",
  `--leader-election-namespace=${placeOf(component)}`,
  // One that is killed is followed soon.
  "--leader-election-lease-duration=9s",
  "--leader-election-renew-deadline=7s",
  "--leader-election-retry-period=1s",
  ...(component === "csi-provisioner" ? capacityFlags : []),
];
const startTriedOne = (
  place: Parameters<typeof startComponent>[0],
  component: Component,
  stage: Stage,
  extras: readonly string[] = [],
) =>
  startComponent(place, component, [...flagsOf(component, stage), ...extras], {
    as: "single rights",
    ...(component === "csi-provisioner" ? { environment: capacityEnvironment } : {}),
  });
/** As it is installed, with what a provisioner across namespaces is given. */
const startOther = (component: Component, stage: Stage): Promise<Daemon> =>
  startComponent(stage.plane, component, [...socketOf(component, stage), ...extrasOf(component)], {
    added: addedTo(component),
  });

/** A provisioner that is not tried restores across namespaces. */
const extrasOf = (component: Component): readonly string[] => (component === "csi-provisioner" ? switches : []);
const addedTo = (component: Component): readonly GuideRight[] =>
  component === "csi-provisioner" ? ["other namespaces"] : [];

export function snapshotLives(stage: Stage): Readonly<Record<Component, Life>> {
  const { plane } = stage;
  const running = new Map<Component, Daemon>();
  let proxy: FaultProxy | undefined;
  let tried: Daemon | undefined;
  let startTried = async (_flags: readonly string[]): Promise<Daemon> => assert.fail("nothing is tried");
  const replica: Replica = {
    end: async (signal) => tried?.stop(signal),
    start: async (...flags) => {
      tried = await startTried(flags);
    },
  };
  const start = (component: Component) => async (kubeconfig: string) => {
    await running.get(component)?.stop();
    running.delete(component);
    for (const other of names)
      if (other !== component && running.get(other)?.running() !== true)
        running.set(other, await startOther(other, stage));
    const proxied = await proxyTo({ ...plane, kubeconfig });
    proxy = proxied.proxy;
    const place = { ...plane, kubeconfig: proxied.kubeconfig };
    startTried = (flags) => startTriedOne(place, component, stage, flags);
    await replica.start();
    const first = tried ?? assert.fail();
    // A step may have ended it, and started another one.
    return { ...first, stop: async (...how: Parameters<Daemon["stop"]>) => tried?.stop(...how) };
  };
  const lifeOf = (component: Component, steps: readonly Step[]): Life => ({
    component,
    start: start(component),
    steps,
    clean: async (trial) => {
      await proxy?.close();
      await removeAll(stage, trial);
      await forgetLeases(stage, component);
    },
  });
  const { bound, taken, keptFor, waits, missedClaim, alone, invalid, classless, foreign, deleted, ...other } =
    snapshotSteps(stage, () => proxy);
  const { grouped, failingSnapshot, unread, unseen, restored, cloned, failingVolume, unclaimed } = other;
  return {
    "snapshot-controller": lifeOf("snapshot-controller", [
      bound,
      taken,
      grouped,
      keptFor("ref"),
      keptFor("link"),
      waits,
      missedClaim,
      alone,
      invalid,
      classless,
      foreign,
      deleted,
    ]),
    "csi-snapshotter": lifeOf("csi-snapshotter", [
      bound,
      taken,
      grouped,
      failingSnapshot,
      ...sidecarSteps(stage),
      deleted,
    ]),
    "csi-provisioner": lifeOf("csi-provisioner", [
      bound,
      taken,
      unread,
      unseen,
      restored,
      cloned,
      failingVolume,
      ...callSteps(stage, replica),
      unclaimed,
      ...capacitySteps(stage, () => proxy),
    ]),
  };
}

const kinds = [
  "VolumeGroupSnapshot",
  "VolumeGroupSnapshotContent",
  "VolumeSnapshot",
  "VolumeSnapshotContent",
  "PersistentVolumeClaim",
  "PersistentVolume",
  "CSIStorageCapacity",
] as const;

/** Removes everything by force: the component that would do it may lack the right. */
async function removeAll({ client, driver }: Stage, trial: Trial): Promise<void> {
  driver.mend();
  const remove = async (ref: Ref<KindName>): Promise<void> => {
    await client.delete(ref).catch(ignoreMissing);
    await client.patch(ref, { type: "merge", body: { metadata: { finalizers: null } } }).catch(ignoreMissing);
  };
  const listed = async (kind: (typeof kinds)[number]): Promise<readonly Ref<KindName>[]> =>
    (await client.list(kind)).objects.map(({ metadata: { namespace, name } }) => ({
      kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    }));
  await trial.until("nothing is left", async () => {
    const left = (await Promise.all(kinds.map(listed))).flat();
    for (const ref of left) await remove(ref);
    return left.length === 0 ? true : undefined;
  });
  driver.volumes.clear();
  driver.snapshots.clear();
}

/** So that the next one has to create them. */
async function forgetLeases({ client }: Stage, component: Component): Promise<void> {
  const namespace = placeOf(component);
  const isOwn = (name: string): boolean =>
    component === "snapshot-controller"
      ? name === leaseName
      : name.startsWith("external-snapshotter-leader") === (component === "csi-snapshotter");
  for (const { metadata } of (await client.list("Lease", { namespace })).objects)
    if (isOwn(metadata.name))
      await client.delete({ kind: "Lease", namespace, name: metadata.name }).catch(ignoreMissing);
}
