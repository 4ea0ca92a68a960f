/** The whole stack in one process: embedded API server, snapshot-controller, sidecar and directory-driver, wired without sockets. */
import { snapshotCrds } from "../../api/crds/index.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";
import { standardParts } from "../../apiserver/parts.ts";
import { type ServedApi, serveApi } from "../../apiserver/serve/https.ts";
import type { Handler } from "../../base/http.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { createCsiSnapshotter } from "../../components/csi-snapshotter/index.ts";
import { faultInjectionLayer, type InjectedFault } from "../../components/directory-driver/fault-injection.ts";
import { createDirectoryDriver, type DirectoryDriver } from "../../components/directory-driver/index.ts";
import { createGrants } from "../../components/snapshot-controller/grants.ts";
import { createSnapshotController } from "../../components/snapshot-controller/index.ts";
import { anywhere } from "../../components/snapshot-controller/observe.ts";
import { type CsiClient, createCsiClientOver } from "../../csi/client.ts";
import { createLocks, layered, locked } from "../../csi/layers.ts";
import { unaryOf } from "../../csi/serve.ts";
import type { KubeApi, PathAsker, PathReader } from "../../kube/api.ts";
import { createClient } from "../../kube/client.ts";
import { createEventRecorder } from "../../kube/events.ts";

export const driverName = "directory.snapkeep.dev";

export interface StackOptions {
  readonly world: World;
  readonly log: Log;
  readonly version: string;
  readonly port: number;
  /** Where volumes and snapshots lie. */
  readonly root: string;
  /** What the driver fails at. */
  readonly faults?: readonly InjectedFault[];
  readonly signal: AbortSignal;
}

export interface Stack {
  readonly api: ServedApi;
  /** Speaks to the API server without a socket. */
  readonly client: KubeApi;
  readonly driver: DirectoryDriver;
  readonly csi: CsiClient;
  /** Resolves when everything has stopped. */
  readonly stopped: Promise<void>;
}

const backoff = { startMs: 1_000, maxMs: 60_000 };

export async function startStack(options: StackOptions): Promise<Stack> {
  const { world, log, version, port, root, faults = [], signal } = options;
  const definitions = [...snapshotCrds(3), referenceGrantCrd()];
  const api = await serveApi({
    world,
    log,
    host: "127.0.0.1",
    port,
    tokenFile: "",
    featureGates: { AnyVolumeDataSource: true },
    parts: standardParts("documents"),
    version,
    definitions,
  });
  const asAdmin: Handler = (request) =>
    api.handler({ ...request, headers: { ...request.headers, authorization: `Bearer ${api.token}` } });
  const clientFor = (name: string) => createClient({ handler: asAdmin, world, userAgent: name });
  const driverOptions = {
    root,
    name: driverName,
    nodeId: "laptop",
    version,
    snapshotDelayMs: 0,
    snapshotSecret: "",
    world,
    log,
  };
  const driver = await createDirectoryDriver(driverOptions).catch(async (reason: unknown) => {
    await api.close();
    throw reason;
  });
  const served = layered(unaryOf(driver.services), locked(createLocks()), faultInjectionLayer(faults));
  const csi = createCsiClientOver(served, { world, log });
  const components = [
    snapshotController(clientFor("snapshot-controller"), world, log),
    sidecar(clientFor("csi-snapshotter"), csi, world, log),
  ];
  const running = components.flatMap((component) => [component.watch(signal), component.run(signal)]);
  const stopped = Promise.all([api.run(signal), ...running]).then(async () => {
    await Promise.all([api.close(), driver.close()]);
  });
  return { api, client: clientFor("snapkeep-up"), driver, csi, stopped };
}

function snapshotController(api: KubeApi & PathReader & PathAsker, world: World, log: Log) {
  const { record } = createEventRecorder({ api, world, log, component: "snapshot-controller" });
  const grants = createGrants({ api, world, log });
  const options = { preventVolumeModeConversion: true, placeOf: () => anywhere, isGranted: grants.allows };
  const onGrantsChange = grants.onChange;
  const controller = createSnapshotController({
    api,
    world,
    log,
    options,
    onGrantsChange,
    workers: 10,
    backoff,
    record,
  });
  return {
    watch: (signal: AbortSignal) => Promise.all([controller.watch(signal), grants.watch(signal)]),
    run: async (signal: AbortSignal) => {
      await grants.known(signal);
      await controller.run(signal);
    },
  };
}

function sidecar(api: KubeApi, csi: CsiClient, world: World, log: Log) {
  const { record } = createEventRecorder({ api, world, log, component: `csi-snapshotter ${driverName}` });
  return createCsiSnapshotter({
    api,
    csi,
    facts: () => ({ driver: driverName, canListSnapshots: true }),
    options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
    world,
    log,
    callsAtOnce: 10,
    backoff,
    poll: backoff,
    record,
  });
}
