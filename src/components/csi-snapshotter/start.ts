/** The sidecar from its context and options: the driver, the controller over its contents, and what is measured of both. */
import { labels } from "../../api/names.ts";
import type { Backoff } from "../../base/backoff.ts";
import type { Millis } from "../../base/brand.ts";
import { openDriver } from "../../csi/driver.ts";
import type { Unary } from "../../csi/wire.ts";
import { unsyncedIn } from "../../kube/stores.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import type { Component } from "../../runtime/frame.ts";
import type { GroupOptions } from "./groups/observe.ts";
import { startGroupSide } from "./groups/start.ts";
import { type CsiSnapshotterDeps, createCsiSnapshotter } from "./index.ts";
import { leaseNameFor } from "./lease-name.ts";
import { sidecarMetrics } from "./metrics.ts";
import type { SidecarOptions } from "./observe.ts";

export const name = "csi-snapshotter";

export interface StartOptions extends SidecarOptions {
  /** How groups are taken, where the cluster has their kinds; absent: they are left alone. */
  readonly groups?: Omit<GroupOptions, "extraCreateMetadata"> | undefined;
  readonly csiAddress: string;
  readonly timeout: Millis;
  /** Serve only contents that are labelled with the node of `nodeName`. */
  readonly nodeDeployment: boolean;
  readonly nodeName: string;
}

/** What runs in one process with its driver, or in the simulation, replaces. */
export interface Replacements extends Partial<Pick<CsiSnapshotterDeps, "plan" | "sidecarId" | "poll">> {
  /** Carries calls to the driver instead of the socket at `csiAddress`. */
  readonly calls?: Unary | undefined;
}

const readinessPoll: Backoff = { startMs: 1_000, maxMs: 30_000 };

export async function start(
  context: ComponentContext,
  options: StartOptions,
  { calls: carrier, poll = readinessPoll, ...replaced }: Replacements = {},
): Promise<Component> {
  const { world, log, signal, refusal } = context;
  const { calls, errors, secretMismatches } = context.metrics.instruments(sidecarMetrics);
  const driver = await openDriver({
    address: options.csiAddress,
    calls: carrier,
    world,
    log,
    signal,
    refusal,
    channel: context.channelTo?.(options.csiAddress),
    timeoutMs: options.timeout,
    seconds: calls,
    needs: "CREATE_DELETE_SNAPSHOT",
    otherwise: "does not take snapshots (no CREATE_DELETE_SNAPSHOT): do not run a csi-snapshotter beside it",
  });
  const driver_name = driver.name;
  const record = context.recordAs(`${name} ${driver_name}`);
  const groups = options.groups
    ? startGroupSide({
        ...context,
        driver,
        options: { ...options.groups, extraCreateMetadata: options.extraCreateMetadata },
        record,
        callsAtOnce: context.workers,
        failed: (operation) => errors.add({ driver_name, operation_name: operation }),
        poll,
      })
    : undefined;
  const sidecar = createCsiSnapshotter({
    ...context,
    ...replaced,
    record,
    csi: driver.csi,
    facts: () => ({ driver: driver_name, canListSnapshots: driver.capabilities()?.has("LIST_SNAPSHOTS") }),
    options,
    callsAtOnce: context.workers,
    failed: (operation) => errors.add({ driver_name, operation_name: operation }),
    count: () => secretMismatches.add({ driver_name }),
    poll,
    labelSelector: options.nodeDeployment ? `${labels.managedBy}=${options.nodeName}` : undefined,
  });
  driver.onRead(sidecar.factsChanged);
  return {
    leaseName: leaseNameFor(driver_name),
    watch: sidecar.watch,
    run: async (stop) => {
      await Promise.all([sidecar.run(stop), groups?.run(stop)]);
    },
    ready: () => unsyncedIn(sidecar.stores),
  };
}
