/** The snapshot-controller from its context and options: its caches, its controllers, and what is measured of them. */
import type { Millis } from "../../base/brand.ts";
import { createNodeFinder } from "../../kube/node-finder.ts";
import { unsyncedIn } from "../../kube/stores.ts";
import { grantToOf, referrerOf } from "../../rules/data-source.ts";
import { anywhere } from "../../rules/node-affinity.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import type { Component } from "../../runtime/frame.ts";
import { createGrants } from "../../runtime/grants.ts";
import { createLinks } from "../../runtime/links.ts";
import { createGroupPart } from "./groups/start.ts";
import { createSnapshotController, type SnapshotControllerDeps } from "./index.ts";
import { countFailure, measureOperations, measureStates } from "./measure.ts";
import { snapshotMetrics } from "./metrics.ts";
import type { SnapshotOptions } from "./observe.ts";

export const name = "snapshot-controller";

export interface StartOptions {
  /** Label each content with the node of its volume. */
  readonly enableDistributedSnapshotting: boolean;
  readonly preventVolumeModeConversion: boolean;
  /** Whether groups are looked after, where the cluster has their kinds; absent: they are left alone. */
  readonly groups?: boolean | undefined;
}

/** What the simulation replaces. */
export interface Replacements
  extends Partial<Pick<SnapshotControllerDeps, "activeSidecars" | "plans" | "protectionOf">> {
  /** False: ReferenceGrants and VolumeSnapshotLinks are not read, and no claim of another namespace is granted a snapshot. */
  readonly readsGrants?: boolean | undefined;
  readonly grantsRecheckMs?: Millis | undefined;
  readonly grantFor?: SnapshotOptions["grantFor"];
}

export async function start(
  context: ComponentContext,
  { enableDistributedSnapshotting, preventVolumeModeConversion, groups }: StartOptions,
  { readsGrants = true, grantsRecheckMs, grantFor, ...replaced }: Replacements = {},
): Promise<Component> {
  const { api, world, log, metrics, leading } = context;
  const nodes = enableDistributedSnapshotting ? createNodeFinder(api, { world, log }) : undefined;
  const grants = readsGrants ? createGrants({ api, world, log, recheckMs: grantsRecheckMs }) : undefined;
  const links = readsGrants ? createLinks({ api, world, log, recheckMs: grantsRecheckMs }) : undefined;
  const groupPart = groups ? createGroupPart({ context, recheckMs: grantsRecheckMs }) : undefined;
  const record = context.recordAs(name);
  const options: SnapshotOptions = {
    groupOf: groupPart?.stateOf,
    links,
    isUndecided: grants && links && { grants: grants.isUndecided, links: links.isUndecided },
    preventVolumeModeConversion,
    placeOf: nodes?.placeOf ?? (() => anywhere),
    grantFor:
      grantFor ??
      ((claimNamespace, { metadata: { namespace = "", name } }, referrer) =>
        grants?.finder()?.(
          referrerOf(referrer ?? "PersistentVolumeClaim", claimNamespace),
          grantToOf({ kind: "snapshot", namespace, name }),
        )?.metadata.name),
  };
  const controller = createSnapshotController({
    ...context,
    ...replaced,
    options,
    onPlacesChange: nodes?.onChange,
    onGrantsChange:
      grants &&
      ((listener) => grants.onChange((before, after) => listener((after ?? before)?.metadata.namespace ?? ""))),
    onLinksChange: links?.onTargetChange,
    failed: (kind, key) => countFailure(measuring, kind, key),
    record,
  });
  const { stores } = controller;
  const measuring = { stores, instruments: metrics.instruments(snapshotMetrics), world, leading };
  const showOperations = measureOperations(measuring);
  metrics.refresh(() => {
    showOperations();
    measureStates(measuring, options);
  });
  return {
    leaseName: `${name}-leader`,
    watch: async (signal) => {
      await Promise.all([controller.watch(signal), nodes?.watch(signal), grants?.watch(signal), links?.watch(signal)]);
    },
    run: async (signal) => {
      // A content created before the nodes are known would carry no node, and no sidecar would take the snapshot.
      await nodes?.synced(signal);
      // Whatever depends on grants waits longer: see isRestoringUndecided. Everything else is served soon.
      await Promise.all([grants?.known(signal), links?.known(signal)]);
      const groupDeps = { ...context, stores, options, record };
      await Promise.all([controller.run(signal), groupPart?.run(signal, groupDeps, controller.trigger)]);
    },
    ready: () => unsyncedIn(stores) ?? nodes?.unsynced(),
  };
}
