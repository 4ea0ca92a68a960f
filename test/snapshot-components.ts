/** The snapshot-controller and a csi-snapshotter on the embedded API server at --v=4, with a clock that the test moves. */
import { draftOf } from "../src/api/builders.ts";
import { snapshotCrds } from "../src/api/crds/index.ts";
import { start as startSidecar } from "../src/components/csi-snapshotter/start.ts";
import { start as startController } from "../src/components/snapshot-controller/start.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  type CreateSnapshotResponse,
  Identity,
} from "../src/csi/gen/csi_pb.js";
import { serve, unaryOf } from "../src/csi/serve.ts";
import { createClient } from "../src/kube/client.ts";
import { createLocalContext } from "../src/runtime/context.ts";
import { startApiServer } from "./api-server.ts";
import { driver } from "./builders.ts";
import { createMemoryLog } from "./csi-sockets.ts";

export type CreateReply = { readonly snapshot: Partial<CreateSnapshotResponse["snapshot"]> };
const taken = (name: string): CreateReply =>
  ({
    snapshot: { snapshotId: name, sizeBytes: 1n, readyToUse: true, creationTime: { seconds: 1_767_225_601n } },
  }) as never;

export interface SnapshotStage {
  /** Undefined: no sidecar runs, as when its driver is down. */
  readonly create?: ((name: string) => CreateReply | Promise<CreateReply>) | "takes it" | undefined;
}

export async function startSnapshotComponents({ create }: SnapshotStage = {}) {
  const stop = new AbortController();
  const server = startApiServer({ definitions: snapshotCrds(3) });
  const { world } = server;
  const api = createClient({ handler: server.handler, world });
  const log = createMemoryLog();
  const contextFor = (name: string) =>
    createLocalContext({
      name,
      api,
      world,
      log: log.with({ component: name }),
      signal: stop.signal,
      workers: 4,
      backoff: { startMs: 1_000, maxMs: 60_000 },
    });
  const contexts = { controller: contextFor("snapshot-controller"), sidecar: contextFor("csi-snapshotter") };
  const calls = unaryOf([
    serve(Identity, { probe: () => ({}), getPluginInfo: () => ({ name: driver }) }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: [{ type: { case: "rpc", value: { type: Capability.CREATE_DELETE_SNAPSHOT } } }],
      }),
      createSnapshot: ({ name }) => (typeof create === "function" ? create(name) : taken(name)) as never,
      deleteSnapshot: () => ({}),
    }),
  ]);
  const sidecarOptions = {
    csiAddress: "in this process",
    timeout: 60_000,
    snapshotNamePrefix: "snapshot",
    snapshotNameUuidLength: -1,
    extraCreateMetadata: false,
    nodeDeployment: false,
    nodeName: "",
  };
  const components = [
    await startController(contexts.controller, {
      enableDistributedSnapshotting: false,
      preventVolumeModeConversion: true,
    }),
    ...(create === undefined ? [] : [await startSidecar(contexts.sidecar, sidecarOptions, { calls })]),
  ];
  const running = Promise.all([
    server.run(stop.signal),
    ...components.flatMap((component) => [component.watch?.(stop.signal), component.run(stop.signal)]),
  ]);
  running.catch(() => undefined);
  await world.advance(1_000);

  const client = createClient({ handler: server.handler, world, userAgent: "tester" });
  const run = <T>(work: Promise<T>): Promise<T> => world.run(work);
  const place = { namespace: "default", name: "data" } as const;
  const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  return {
    world,
    client,
    run,
    /** Lines of decisions about the object, as [component, reason, sentence]. */
    decisionsOn: (key: string) =>
      log.lines
        .filter((line) => line.message === "decided" && line.key === key)
        .map(({ component, reason, says, phase }) => ({ component, reason, says: String(says), phase })),
    /** How many objects wait, by component and reason. */
    async waiting(): Promise<Readonly<Record<string, number>>> {
      const texts = await Promise.all(Object.values(contexts).map(({ metrics }) => metrics.scrape()));
      const row = /^snapkeep_waiting_objects\{component="([^"]+)",reason="([^"]+)"\} ([1-9]\d*)$/gm;
      const found = texts.flatMap(({ text }) => [...text.matchAll(row)]);
      return Object.fromEntries(found.map(([, component, reason, count]) => [`${component} ${reason}`, Number(count)]));
    },
    async createClass(name: string, of: string = driver): Promise<void> {
      const body = { driver: of, deletionPolicy: "Delete" } as const;
      await run(client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name }, body)));
    },
    /** The claim `data`, and its volume if it is bound. */
    async createClaim({ isBound = true } = {}): Promise<void> {
      const claim = { ...sized, resources: { requests: { storage: "1Mi" } }, ...(isBound && { volumeName: "pv" }) };
      const csi = { driver, volumeHandle: "v-1" };
      const volume = { ...sized, capacity: { storage: "1Mi" }, csi, claimRef: place, volumeMode: "Filesystem" };
      if (isBound)
        await run(client.create("PersistentVolume", draftOf("PersistentVolume", { name: "pv" }, { spec: volume })));
      await run(client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", place, { spec: claim })));
      await world.advance(1_000);
    },
    async createSnapshot(volumeSnapshotClassName = "fast"): Promise<void> {
      const spec = { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName };
      const metadata = { namespace: "default", name: "monday" };
      await run(client.create("VolumeSnapshot", draftOf("VolumeSnapshot", metadata, { spec })));
      await world.advance(10_000);
    },
    async end(): Promise<void> {
      stop.abort();
      await run(
        running.then(
          () => undefined,
          () => undefined,
        ),
      );
    },
  };
}
