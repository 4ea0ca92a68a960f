/** What the map of docs/architecture.md shows: four ways through the production code, each walked in this process. */
import { draftOf } from "../../src/api/builders.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { sharedResourceCrds } from "../../src/api/crds/shared-resource.ts";
import type { Handler } from "../../src/base/http.ts";
import { silent } from "../../src/base/log.ts";
import { start as startCsiSnapshotter } from "../../src/components/csi-snapshotter/start.ts";
import { defaultConfig } from "../../src/components/shared-resource/config.ts";
import { startNode } from "../../src/components/shared-resource/node/start.ts";
import { start as startSnapshotController } from "../../src/components/snapshot-controller/start.ts";
import { createWebhook } from "../../src/components/webhook/index.ts";
import { webhookMetrics } from "../../src/components/webhook/metrics.ts";
import { createCsiClientOver } from "../../src/csi/client.ts";
import { unaryOf } from "../../src/csi/serve.ts";
import type { Unary } from "../../src/csi/wire.ts";
import { createClient } from "../../src/kube/client.ts";
import { platformAllowLists } from "../../src/rules/share-allow-lists.ts";
import { createLocalContext } from "../../src/runtime/context.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { goodGrant, guest, ref, setUpAcross } from "../across-namespaces.ts";
import { startApiServer } from "../api-server.ts";
import { createBackend, driver } from "../sim/backend.ts";
import { createMachine, createMemoryHost } from "../sim/shared-resource/memory-host.ts";
import { readLists } from "../sim/shared-resource/read-lists.ts";
import { createTruth } from "../sim/shared-resource/truth.ts";
import { createUsers } from "../sim/shared-resource/users.ts";
import { createTrace, requestName, type Trace, type Walk } from "./trace.ts";

const soonMs = 10_000;

/** The same handler; each request of the component is a step. */
const traced =
  (trace: Trace, component: string, handler: Handler): Handler =>
  (request) => {
    trace.leaves(`${component}: ${requestName(request)}`);
    return handler(request);
  };

async function snapshotWalk(): Promise<Walk> {
  const { handler, world } = startApiServer({ definitions: snapshotCrds(3) });
  const user = createClient({ handler, world });
  const trace = createTrace();
  const backend = createBackend(world);
  const plainCalls = unaryOf(backend.services);
  const calls: Unary = (call, signal) => {
    trace.leaves(`csi-snapshotter: ${call.method.name}`);
    return plainCalls(call, signal);
  };
  const stop = new AbortController();
  const contextOf = (name: string) =>
    createLocalContext({
      name,
      api: createClient({ handler: traced(trace, name, handler), world }),
      world,
      log: silent,
      signal: stop.signal,
      workers: 10,
      backoff: { startMs: 1_000, maxMs: 60_000 },
    });
  const claimRef = { namespace: "default", name: "data" };
  await world.run(
    (async () => {
      const csi = { driver, volumeHandle: "vol-data" };
      const capacity = { storage: "1Gi" };
      const accessModes = ["ReadWriteOnce" as const];
      const claim = await user.create(
        "PersistentVolumeClaim",
        draftOf("PersistentVolumeClaim", claimRef, {
          spec: { accessModes, storageClassName: "", volumeName: "pv-data", resources: { requests: capacity } },
        }),
      );
      const bound = { kind: "PersistentVolumeClaim", ...claimRef, uid: claim.metadata.uid };
      await user.create(
        "PersistentVolume",
        draftOf("PersistentVolume", { name: "pv-data" }, {
          spec: { accessModes, capacity, csi, claimRef: bound },
        } as never),
      );
      await user.replace("PersistentVolumeClaim", { ...claim, status: { phase: "Bound" } } as never, {
        subresource: "status",
      });
      await user.create(
        "VolumeSnapshotClass",
        draftOf("VolumeSnapshotClass", { name: "fast" }, { driver, deletionPolicy: "Delete" }),
      );
    })(),
  );
  const components = await world.run(
    Promise.all([
      startSnapshotController(contextOf("snapshot-controller"), {
        enableDistributedSnapshotting: false,
        preventVolumeModeConversion: true,
      }),
      startCsiSnapshotter(
        contextOf("csi-snapshotter"),
        {
          csiAddress: "in this process",
          timeout: 60_000,
          snapshotNamePrefix: "snapshot",
          snapshotNameUuidLength: -1,
          extraCreateMetadata: false,
          nodeDeployment: false,
          nodeName: "",
        },
        { calls },
      ),
    ]),
  );
  const ended = components.flatMap((component) => [component.watch?.(stop.signal), component.run(stop.signal)]);
  await world.advance(soonMs);
  const spec = { volumeSnapshotClassName: "fast", source: { persistentVolumeClaimName: "data" } };
  const monday = { namespace: "default", name: "monday" };
  const created = user.create("VolumeSnapshot", draftOf("VolumeSnapshot", monday, { spec }));
  trace.begin();
  await world.run(created);
  await world.advance(soonMs);
  const steps = trace.end();
  const { status } = await world.run(user.get({ kind: "VolumeSnapshot", ...monday }));
  if (status?.readyToUse !== true) throw new Error("the snapshot of the map is not ready");
  stop.abort();
  await world.run(Promise.all(ended));
  return { title: "A snapshot", about: "From the new VolumeSnapshot to its ready status.", steps };
}

async function restoreWalk(): Promise<Walk> {
  const trace = createTrace();
  const stage = await setUpAcross({
    before: async (step) => trace.leaves(`csi-provisioner: ${step}`),
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("claims", goodGrant);
  await stage.start();
  await stage.world.advance(soonMs);
  trace.begin();
  await stage.claim("copy", ref());
  await stage.world.advance(soonMs);
  const steps = trace.end();
  const volumes = await stage.published();
  if (volumes.length !== 1) throw new Error("the restore of the map has no volume");
  await stage.end();
  const about = `From a new claim in namespace ${guest} that names a snapshot of another namespace to its PersistentVolume.`;
  return { title: "A restore from another namespace", about, steps };
}

async function reviewWalk(): Promise<Walk> {
  const trace = createTrace();
  const { world } = startApiServer();
  const handler = createWebhook({
    world,
    log: silent,
    instruments: createMetrics().instruments(webhookMetrics),
    gates: () => ({ anyVolumeDataSource: true, crossNamespace: false }),
    otherDefaults: () => [],
    allowLists: () => platformAllowLists,
    self: () => undefined,
    ready: () => undefined,
  });
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u",
      operation: "CREATE",
      resource: { group: "snapshot.storage.k8s.io", version: "v1", resource: "volumesnapshots" },
      object: { spec: { source: {} } },
    },
  });
  trace.begin();
  const headers = { "content-type": "application/json" };
  const response = await handler({ method: "POST", path: "/", headers, body });
  const steps = trace.end();
  if (!String(response.body).includes('"allowed":false')) throw new Error("the review of the map is not denied");
  return {
    title: "A review",
    about: "From an AdmissionReview of a VolumeSnapshot without a source to the denial.",
    steps,
  };
}

async function publishWalk(): Promise<Walk> {
  const { handler, world } = startApiServer({ definitions: sharedResourceCrds() });
  const trace = createTrace();
  const truth = createTruth();
  const must = async (method: string, path: string, body?: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const { status } = await handler({ method, path, headers, body: JSON.stringify(body) });
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
  };
  const users = createUsers(must, truth);
  const reference = { namespace: "owner", name: "password" };
  await world.run(
    (async () => {
      await users.furnish(["team-a", "owner"]);
      await users.write("SharedSecret", reference, "v.1");
      await users.point("SharedSecret", "one", reference);
      await users.grant("SharedSecret", "one", "team-a");
    })(),
  );
  const stop = new AbortController();
  const name = "shared-resource";
  const machine = createMachine();
  const component = await world.run(
    startNode(
      { world, log: silent, metrics: createMetrics(), signal: stop.signal },
      {
        name: "csi.sharedresource.openshift.io",
        version: "1",
        nodeId: "node",
        maxVolumesPerNode: 0,
        recordFolder: "",
        kubeletFolder: "",
        config: defaultConfig,
        host: createMemoryHost(machine, { step: async () => undefined, onShown: () => trace.leaves(`${name}: files`) }),
        connect: async () => ({
          api: createClient({ handler: traced(trace, name, handler), world }),
          lists: readLists,
        }),
      },
    ),
  );
  const ended = component.run(stop.signal).catch(() => undefined);
  await world.advance(soonMs);
  const csi = createCsiClientOver(component.calls, { world, log: silent, timeoutMs: 20_000 });
  trace.begin();
  await world.run(
    csi.node.nodePublishVolume({
      volumeId: "csi-1",
      targetPath: "/pods/1/mount",
      readonly: true,
      volumeCapability: { accessType: { case: "mount", value: {} } },
      volumeContext: {
        sharedSecret: "one",
        "csi.storage.k8s.io/pod.name": "reader",
        "csi.storage.k8s.io/pod.namespace": "team-a",
        "csi.storage.k8s.io/pod.uid": "uid-1",
        "csi.storage.k8s.io/serviceAccount.name": "reader",
      },
    }),
  );
  const steps = trace.end();
  if (machine.mounts.get("/pods/1/mount")?.shown === undefined) throw new Error("the volume of the map shows nothing");
  stop.abort();
  await world.run(ended);
  return { title: "A publish", about: "From NodePublishVolume of a shared Secret to the pod's files.", steps };
}

export const walks: readonly (() => Promise<Walk>)[] = [snapshotWalk, restoreWalk, reviewWalk, publishWalk];
