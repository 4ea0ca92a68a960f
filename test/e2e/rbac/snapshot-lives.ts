/** Volumes and snapshots from creation to deletion, with what happens rarely in between: the lives of three components. */
import type { KindName } from "../../../src/api/kinds.ts";
import { leaseName, leaseNamespace } from "../../../src/api/manifests/snapshot-controller.ts";
import type { Ref } from "../../../src/api/plan.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import type { GuideRight } from "../../guide-rights.ts";
import type { UserOptions } from "../harness/component-users.ts";
import { startComponent } from "../harness/components.ts";
import { switches } from "../harness/cross-namespace.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import type { Daemon } from "../harness/instance.ts";
import { capacityEnvironment, capacityFlags, capacitySteps } from "./capacity-step.ts";
import { installation } from "./rights.ts";
import { ignoreMissing, type Stage } from "./snapshot-stage.ts";
import { snapshotSteps } from "./snapshot-steps.ts";
import type { Life, Step, Trial } from "./trial.ts";

const names = ["snapshot-controller", "csi-snapshotter", "csi-provisioner"] as const;
type Component = (typeof names)[number];

const placeOf = (component: Component): string =>
  component === "snapshot-controller" ? leaseNamespace : installation.driverNamespace;
const flagsOf = (component: Component, { driver }: Stage): readonly string[] => [
  ...(component === "snapshot-controller" ? [] : [`--csi-address=${driver.socket}`]),
  "--leader-election=true",
  `--leader-election-namespace=${placeOf(component)}`,
  ...(component === "csi-provisioner" ? capacityFlags : []),
];
const startWith = (
  place: Parameters<typeof startComponent>[0],
  component: Component,
  stage: Stage,
  extras: readonly string[] = [],
  user: UserOptions = {},
) =>
  startComponent(
    place,
    component,
    [...flagsOf(component, stage), ...extras],
    component === "csi-provisioner" ? { ...user, environment: capacityEnvironment } : user,
  );

/** A provisioner that is not tried restores across namespaces. */
const extrasOf = (component: Component): readonly string[] => (component === "csi-provisioner" ? switches : []);
const addedTo = (component: Component): readonly GuideRight[] =>
  component === "csi-provisioner" ? ["other namespaces"] : [];

export function snapshotLives(stage: Stage): Readonly<Record<Component, Life>> {
  const { plane } = stage;
  const running = new Map<Component, Daemon>();
  let proxy: FaultProxy | undefined;
  const start = (component: Component) => async (kubeconfig: string) => {
    await running.get(component)?.stop();
    running.delete(component);
    for (const other of names)
      if (other !== component && running.get(other)?.running() !== true)
        running.set(other, await startWith(plane, other, stage, extrasOf(other), { added: addedTo(other) }));
    const proxied = await proxyTo({ ...plane, kubeconfig });
    proxy = proxied.proxy;
    const place = { ...plane, kubeconfig: proxied.kubeconfig };
    return startWith(place, component, stage, [], { as: "single rights" });
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
  const { failingSnapshot, unread, unseen, restored, cloned, failingVolume, unclaimed } = other;
  return {
    "snapshot-controller": lifeOf("snapshot-controller", [
      bound,
      taken,
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
    "csi-snapshotter": lifeOf("csi-snapshotter", [bound, taken, failingSnapshot, deleted]),
    "csi-provisioner": lifeOf("csi-provisioner", [
      bound,
      taken,
      unread,
      unseen,
      restored,
      cloned,
      failingVolume,
      unclaimed,
      ...capacitySteps(stage, () => proxy),
    ]),
  };
}

const kinds = [
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
