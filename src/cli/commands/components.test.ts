/** The two programs as a person starts them, on the embedded API server and a driver that cannot list: what their flags lead to. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually, startDriver, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import type { ApiObject } from "../../apiserver/contracts.ts";
import { serveApi } from "../../apiserver/serve/https.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../../csi/gen/csi_pb.js";
import { serve } from "../../csi/serve.ts";
import { createClient } from "../../kube/client.ts";
import { commands } from "../commands.ts";
import { runCommandLine } from "../run.ts";

const driver = "plain.example.com";
const creationTime = { seconds: 1_700_000_000n, nanos: 0 };

/** An API server with the CRDs, and a driver with these capabilities; whatever is started ends with the test. */
async function setUp(t: TestContext, capabilities: readonly Capability[]) {
  const folder = temporaryFolder(t);
  const stop = new AbortController();
  const api = await serveApi({
    world: realWorld,
    log: silent,
    host: "127.0.0.1",
    port: 0,
    tokenFile: "",
    featureGates: {},
    version: "1.2.3",
    definitions: snapshotCrds(3) as unknown as readonly ApiObject[],
  });
  const ends: Promise<unknown>[] = [api.run(stop.signal)];
  t.after(async () => {
    stop.abort();
    await Promise.allSettled(ends);
    await api.close();
  });
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, api.kubeconfig);
  const socket = join(folder, "csi.sock");
  const rpc = (type: Capability) => ({ type: { case: "rpc" as const, value: { type } } });
  const services = [
    serve(Identity, {
      getPluginInfo: () => ({ name: driver, vendorVersion: "1" }),
      getPluginCapabilities: () => ({
        capabilities: [{ type: { case: "service", value: { type: Service.CONTROLLER_SERVICE } } }],
      }),
      probe: () => ({ ready: true }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({ capabilities: capabilities.map(rpc) }),
      createSnapshot: ({ name, sourceVolumeId }) => ({
        snapshot: { snapshotId: name, sourceVolumeId, sizeBytes: 1n, readyToUse: true, creationTime },
      }),
    }),
  ];
  await startDriver(t, services, { address: socket });
  const start = (...argv: readonly string[]) => {
    let said = "";
    const write = (text: string): void => {
      said += text;
    };
    const code = runCommandLine(commands, [...argv, `--kubeconfig=${kubeconfig}`], {
      environment: {},
      signal: stop.signal,
      world: realWorld,
      out: { write },
      error: { write },
      version: "1.2.3",
    });
    ends.push(code);
    return { code, said: () => said };
  };
  const asAdmin: typeof api.handler = (request) =>
    api.handler({ ...request, headers: { ...request.headers, authorization: `Bearer ${api.token}` } });
  const client = createClient({ handler: asAdmin, world: realWorld, userAgent: "tester" });
  return { client, socket, start };
}

test("beside a driver that takes no snapshots the sidecar ends with 1, and says what to do", async (t) => {
  const { socket, start } = await setUp(t, [Capability.LIST_VOLUMES]);
  const { code, said } = start("csi-snapshotter", `--csi-address=${socket}`);
  assert.equal(await code, 1);
  assert.match(said(), /driver plain\.example\.com at .* does not take snapshots .*: do not run a csi-snapshotter/);
});

test("flags reach the work: the leases have their names, the volume's mode is left out, events name their driver, and one that cannot list is trusted", async (t) => {
  const { client, socket, start } = await setUp(t, [Capability.CREATE_DELETE_SNAPSHOT]);
  const elects = ["--leader-election", "--leader-election-namespace=kube-system"];
  start("snapshot-controller", ...elects, "--prevent-volume-mode-conversion=false");
  start("csi-snapshotter", ...elects, `--csi-address=${socket}`);
  const place = { namespace: "default", name: "data" };
  const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  const csi = { driver, volumeHandle: "v-1" };
  const volume = { ...sized, capacity: { storage: "1Mi" }, csi, claimRef: place, volumeMode: "Filesystem" };
  await client.create("PersistentVolume", draftOf("PersistentVolume", { name: "pv" }, { spec: volume }));
  const claim = { ...sized, volumeName: "pv", resources: { requests: { storage: "1Mi" } } };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", place, { spec: claim }));
  const policy = { driver, deletionPolicy: "Delete" as const };
  await client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name: "fast" }, policy));
  const wish = { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" };
  const snapshot = { kind: "VolumeSnapshot", namespace: "default", name: "monday" } as const;
  await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", snapshot, { spec: wish }));
  const given = { ...policy, source: { snapshotHandle: "old" }, volumeSnapshotRef: { ...snapshot, name: "adopted" } };
  await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "by-hand" }, { spec: given }));
  const contentOf = async (name: string) => client.get({ kind: "VolumeSnapshotContent", name });
  await eventually(async () => (await client.get(snapshot)).status?.readyToUse === true);
  await eventually(async () => (await contentOf("by-hand")).status?.readyToUse === true);
  const bound = await contentOf((await client.get(snapshot)).status?.boundVolumeSnapshotContentName ?? "");
  assert.equal(bound.spec.sourceVolumeMode, undefined);
  const classless = { ...given, source: { volumeHandle: "v-2" }, volumeSnapshotClassName: "nobody-made-this" };
  const spec = { ...classless, volumeSnapshotRef: { ...snapshot, name: "other", uid: "u" } };
  await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "classless" }, { spec }));
  const sources = async () =>
    (await client.list("Event", {})).objects.map(
      (event) => (event as { source?: { component?: string } }).source?.component,
    );
  await eventually(async () => new Set(await sources()).size === 2);
  assert.deepEqual([...new Set(await sources())].sort(), ["csi-snapshotter plain.example.com", "snapshot-controller"]);
  const leases = await client.list("Lease", { namespace: "kube-system" });
  assert.deepEqual(leases.objects.map(({ metadata }) => metadata.name).sort(), [
    "external-snapshotter-leader-plain-example-com",
    "snapshot-controller-leader",
  ]);
});
