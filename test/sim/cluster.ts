/** The whole system in one thread: embedded API server, production components, a storage system outside of them, one clock. */
import { snapshotCrds } from "../../src/api/crds/index.ts";
import type { KindName } from "../../src/api/kinds.ts";
import type { Draft } from "../../src/api/types.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import type { Handler } from "../../src/base/http.ts";
import { silent } from "../../src/base/log.ts";
import { createCsiSnapshotter } from "../../src/components/csi-snapshotter/index.ts";
import { createSnapshotController } from "../../src/components/snapshot-controller/index.ts";
import { createCsiClientOver } from "../../src/csi/client.ts";
import { unaryOf } from "../../src/csi/serve.ts";
import { createClient } from "../../src/kube/client.ts";
import { createEventRecorder } from "../../src/kube/events.ts";
import type { VirtualWorld } from "../virtual-world.ts";
import { type Backend, createBackend } from "./backend.ts";

export const driver = "disk.example.com";
const definitions = snapshotCrds(3);
const backoff = { startMs: 1_000, maxMs: 300_000 };
const poll = { startMs: 1_000, maxMs: 30_000 };

export function createCluster(world: VirtualWorld) {
  const server = createApiServer({ world, definitions: definitions as never, managedFields: false });
  const stopping = new AbortController();
  const backend = createBackend(world);
  const user = createClient({ handler: server.handler, world, userAgent: "user" });
  void server.run(stopping.signal);

  const clientFor = (name: string, handler: Handler = server.handler) =>
    createClient({ handler, world, userAgent: name });
  return {
    server,
    backend,
    user,
    stop: (): void => stopping.abort(),
    startController(signal: AbortSignal = stopping.signal, handler?: Handler) {
      const api = clientFor("snapshot-controller", handler);
      const { record } = createEventRecorder({ api, world, log: silent, component: "snapshot-controller" });
      const options = { preventVolumeModeConversion: true, nodeOf: () => undefined };
      const controller = createSnapshotController({ api, world, log: silent, options, workers: 10, backoff, record });
      return Promise.all([controller.watch(signal), controller.run(signal)]);
    },
    startSidecar(signal: AbortSignal = stopping.signal, handler?: Handler) {
      const api = clientFor("csi-snapshotter", handler);
      const { record } = createEventRecorder({ api, world, log: silent, component: `csi-snapshotter ${driver}` });
      const csi = createCsiClientOver(unaryOf([backend.service]), { world, log: silent });
      const sidecar = createCsiSnapshotter({
        api,
        csi,
        facts: { driver, canListSnapshots: true },
        options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
        world,
        log: silent,
        callsAtOnce: 10,
        backoff,
        poll,
        record,
      });
      return Promise.all([sidecar.watch(signal), sidecar.run(signal)]);
    },
    create: <K extends KindName>(kind: K, object: Draft) => user.create(kind, object),
  };
}

export type Cluster = ReturnType<typeof createCluster>;
export type { Backend };

/** A class, and a claim bound to a volume of the driver: what a user has before taking a snapshot. */
export async function furnish(
  { create, user }: Cluster,
  { claim = "data", deletionPolicy = "Delete" } = {},
): Promise<void> {
  const snapshotClass = {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotClass",
    metadata: { name: deletionPolicy.toLowerCase() },
    driver,
    deletionPolicy,
  };
  await create("VolumeSnapshotClass", snapshotClass);
  const volume = `pv-${claim}`;
  const capacity = { storage: "1Gi" };
  const spec = {
    capacity,
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    csi: { driver, volumeHandle: `vol-${claim}` },
    claimRef: { namespace: "default", name: claim },
  };
  await create("PersistentVolume", {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: volume },
    spec,
  } as never);
  const claimSpec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "",
    volumeName: volume,
    resources: { requests: capacity },
  };
  await create("PersistentVolumeClaim", {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace: "default", name: claim },
    spec: claimSpec,
  } as never);
  await user.get({ kind: "PersistentVolumeClaim", namespace: "default", name: claim });
}

export const aSnapshotOf = (name: string, { claim = "data", className = "delete" } = {}): Draft =>
  ({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { namespace: "default", name },
    spec: { source: { persistentVolumeClaimName: claim }, volumeSnapshotClassName: className },
  }) as Draft;
