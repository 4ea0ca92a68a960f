/** The whole stack in one process: embedded API server, snapshot-controller, sidecars and directory-driver, wired without sockets; the webhook is called over TLS. */
import { crossNamespaceCrds } from "../../api/crds/cross-namespace.ts";
import { groupSnapshotCrds } from "../../api/crds/group-snapshots.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";
import {
  type ClaimRules,
  claimRulesPlugins,
  createApiServer,
  type ServedApi,
  volumeBinder,
} from "../../apiserver/index.ts";
import { type Log, traceVerbosity } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { start as startCsiProvisioner } from "../../components/csi-provisioner/start.ts";
import { start as startCsiSnapshotter } from "../../components/csi-snapshotter/start.ts";
import type { InjectedFault } from "../../components/directory-driver/fault-injection.ts";
import type { DirectoryDriver } from "../../components/directory-driver/index.ts";
import { start as startDirectoryDriver } from "../../components/directory-driver/start.ts";
import { start as startSnapshotController } from "../../components/snapshot-controller/start.ts";
import { layered, logged } from "../../csi/layers.ts";
import type { Unary } from "../../csi/wire.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createClient } from "../../kube/client.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import { createLocalContext } from "../../runtime/context.ts";
import type { Component } from "../../runtime/frame.ts";
import { createMetrics } from "../../runtime/metrics.ts";
import { traced } from "../../runtime/traced.ts";
import { provisionerInProcess, snapshotterInProcess } from "../sidecar-defaults.ts";
import { createDefaultClasses } from "./default-classes.ts";
import { holdLeases } from "./leases.ts";
import { startWebhook } from "./webhook.ts";

export const driverName = "directory.snapkeep.dev";

export interface StackOptions {
  readonly world: World;
  readonly log: Log;
  readonly version: string;
  readonly port: number;
  /** Where volumes and snapshots lie. */
  readonly root: string;
  /** What becomes of data sources that are not supported; absent: they are refused, and claims are written as Kubernetes writes them. */
  readonly claimRules?: ClaimRules;
  /** What the driver fails at. */
  readonly faults?: readonly InjectedFault[];
  readonly signal: AbortSignal;
}

export interface Stack {
  readonly api: ServedApi;
  /** Speaks to the API server without a socket. */
  readonly client: KubeApi;
  readonly driver: DirectoryDriver;
  /** Resolves when everything has stopped. */
  readonly stopped: Promise<void>;
}

/** The demo says itself what its driver does. */
const withoutInfo = (log: Log): Log => ({
  ...log,
  info: (message, fields) => log.debug(message, fields),
  with: (fields) => withoutInfo(log.with(fields)),
});

const backoff = { startMs: 1_000, maxMs: 60_000 };

/** The components on the API. One that joins `snapkeep up` is one more row. */
const rows: Readonly<Record<string, (context: ComponentContext, calls: Unary) => Promise<Component>>> = {
  "snapshot-controller": (context) =>
    startSnapshotController(context, {
      enableDistributedSnapshotting: false,
      preventVolumeModeConversion: true,
      groups: true,
    }),
  "csi-snapshotter": (context, calls) =>
    startCsiSnapshotter(
      context,
      {
        ...snapshotterInProcess,
        groups: { groupsnapshotNamePrefix: "groupsnapshot", groupsnapshotNameUuidLength: -1 },
      },
      { calls },
    ),
  "csi-provisioner": (context, calls) => startCsiProvisioner(context, provisionerInProcess, { calls }),
};

export async function startStack(options: StackOptions): Promise<Stack> {
  const { world, log, version, port, root, claimRules = "strict", faults = [], signal } = options;
  const server = createApiServer({
    world,
    log,
    featureGates: { AnyVolumeDataSource: true, CrossNamespaceVolumeDataSource: true },
    plugins: [volumeBinder, claimRulesPlugins[claimRules]],
    version,
    definitions: [...snapshotCrds(3), ...groupSnapshotCrds(), referenceGrantCrd(), ...crossNamespaceCrds()],
  });
  const api = await server.start({ port });
  const logOf = (component: string): Log => log.with({ component });
  const clientFor = (name: string) =>
    createClient({ handler: server.handler, world, userAgent: name, measure: traced(logOf(name)) });
  const driverStop = new AbortController();
  const driver = await startDirectoryDriver(
    { world, log: withoutInfo(log), metrics: createMetrics(), signal: driverStop.signal },
    { root, name: driverName, nodeId: "laptop", version, snapshotDelayMs: 0, snapshotSecret: "", faults },
  ).catch(async (reason: unknown) => {
    await server.stop();
    throw reason;
  });
  const serving = driver.run(driverStop.signal);
  /** The driver goes last: a call of a component may still be under way. */
  const close = async (): Promise<void> => {
    driverStop.abort();
    await Promise.all([serving, server.stop()]);
  };
  const contextFor = (name: string) =>
    createLocalContext({ name, api: clientFor(name), world, log: logOf(name), signal, workers: 10, backoff });
  /** Without a socket there is no client that logs its calls. */
  const callsFor = (name: string): Unary =>
    log.verbosity < traceVerbosity ? driver.calls : layered(driver.calls, logged(logOf(name), world));
  const client = clientFor("snapkeep-up");
  const startAll = async (): Promise<readonly Component[]> => {
    const started = await Promise.all(
      Object.entries(rows).map(([name, start]) => start(contextFor(name), callsFor(name))),
    );
    await createDefaultClasses(client, driverName);
    // Last, because it listens from its start on.
    return [...started, await startWebhook(contextFor("webhook"))];
  };
  const components = await startAll().catch(async (reason: unknown) => {
    await close();
    throw reason;
  });
  const running = components.flatMap((component) => [component.watch?.(signal), component.run(signal)]);
  const held = holdLeases(components, { api: client, world, signal });
  return {
    api,
    client,
    driver: driver.driver,
    stopped: Promise.all([held, ...running]).then(close),
  };
}
