/** Both ends of CSI against the real thing: our client and the hostpath driver, our server and csi-sanity. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { isFinal } from "../../src/base/fault.ts";
import { realWorld } from "../../src/base/world.ts";
import type { CsiClient } from "../../src/csi/client.ts";
import {
  Identity,
  VolumeCapability_AccessMode_Mode as Mode,
  PluginCapability_Service_Type as PluginType,
} from "../../src/csi/gen/csi_pb.js";
import { serve } from "../../src/csi/serve.ts";
import { connectTo, faultOf, startDriver, temporaryFolder } from "../csi-sockets.ts";
import { type Hostpath, startHostpath } from "./harness/hostpath.ts";
import { createInstance } from "./harness/instance.ts";
import { tool } from "./harness/tools.ts";

/** At import, so that a build counts against no test's time. */
const sanity = await tool("csi-sanity");

const mebi = 2n ** 20n;
const never = new AbortController().signal;

const aVolume = (name: string) => ({
  name,
  capacityRange: { requiredBytes: mebi },
  volumeCapabilities: [
    { accessType: { case: "mount" as const, value: {} }, accessMode: { mode: Mode.SINGLE_NODE_WRITER } },
  ],
});

async function aHostpath(t: TestContext): Promise<{ driver: Hostpath; client: CsiClient; lost(): number }> {
  const instance = createInstance();
  t.after(() => instance.stop());
  const driver = await startHostpath(instance);
  let losses = 0;
  const client = connectTo(t, `unix://${driver.socket}`, { onConnectionLoss: () => losses++ });
  await client.probeUntilReady(never);
  return { driver, client, lost: () => losses };
}

async function volumeIn({ controller }: CsiClient, name: string): Promise<string> {
  const { volume } = await controller.createVolume(aVolume(name));
  return volume?.volumeId || assert.fail("CreateVolume answered without an id");
}

test("the lifecycle of a volume on the real driver: create, snapshot, list, restore, expand, delete", async (t) => {
  const { client } = await aHostpath(t);
  const { controller } = client;
  assert.equal(await client.pluginName(never), "hostpath.csi.k8s.io");
  const capabilities = await client.capabilities(never);
  assert.ok(capabilities.plugin.has("CONTROLLER_SERVICE"));
  assert.ok(capabilities.controller.has("CREATE_DELETE_SNAPSHOT") && capabilities.controller.has("LIST_SNAPSHOTS"));

  const sourceVolumeId = await volumeIn(client, "first");
  const taken = await controller.createSnapshot({ name: "cut", sourceVolumeId, secrets: { password: "unused" } });
  const snapshotId = taken.snapshot?.snapshotId ?? "";
  assert.equal(taken.snapshot?.sizeBytes, mebi);
  assert.equal(taken.snapshot.readyToUse, true);
  const ageMs = Date.now() - Number(taken.snapshot.creationTime?.seconds) * 1000;
  assert.ok(ageMs >= 0 && ageMs < 60_000, `a creation time of ${ageMs} ms ago`);

  const again = await controller.createSnapshot({ name: "cut", sourceVolumeId });
  assert.equal(again.snapshot?.snapshotId, snapshotId, "the same name gives the same snapshot");
  const listed = await controller.listSnapshots({ snapshotId });
  assert.deepEqual(
    listed.entries.map(({ snapshot }) => snapshot?.sourceVolumeId),
    [sourceVolumeId],
  );

  const volumeContentSource = { type: { case: "snapshot" as const, value: { snapshotId } } };
  const restored = await controller.createVolume({ ...aVolume("restored"), volumeContentSource });
  const restoredId = restored.volume?.volumeId ?? "";
  const grown = await controller.controllerExpandVolume({
    volumeId: restoredId,
    capacityRange: { requiredBytes: 2n * mebi },
  });
  assert.equal(grown.capacityBytes, 2n * mebi);
  assert.equal((await controller.listVolumes({})).entries.length, 2);
  assert.ok((await controller.getCapacity({})).availableCapacity > 0n);

  await controller.deleteSnapshot({ snapshotId });
  for (const volumeId of [sourceVolumeId, restoredId]) await controller.deleteVolume({ volumeId });
  assert.deepEqual((await controller.listVolumes({})).entries, []);
});

test("errors of the real driver are final and have a reason", async (t) => {
  const { client } = await aHostpath(t);
  const unnamed = await faultOf(client.controller.createVolume({}));
  assert.equal(unnamed.code, "InvalidArgument");
  assert.match(unnamed.message, /^rpc error: code = InvalidArgument desc = .*[Nn]ame/);
  const missing = await faultOf(client.controller.createSnapshot({ name: "s", sourceVolumeId: "no-such-volume" }));
  assert.ok(isFinal(missing), `${missing.code}: ${missing.message}`);
  assert.equal((await faultOf(client.group.groupControllerGetCapabilities({}))).code, "Unimplemented");
});

test("a driver that is killed during a call leaves the outcome unknown, and after its restart the call succeeds", async (t) => {
  const { driver, client, lost } = await aHostpath(t);
  const sourceVolumeId = await volumeIn(client, "source");
  process.kill(driver.daemon().pid, "SIGSTOP");
  const call = faultOf(client.controller.createSnapshot({ name: "cut", sourceVolumeId }));
  await sleep(200); // The request lies in the socket of a driver that does not move.
  await driver.kill();
  const fault = await call;
  assert.equal(isFinal(fault), false, `${fault.code}: ${fault.message}`);
  assert.equal(lost(), 1);

  const waiting = client.controller.createSnapshot({ name: "cut", sourceVolumeId });
  await driver.start();
  assert.equal((await waiting).snapshot?.sourceVolumeId, sourceVolumeId);
});

test("our server passes csi-sanity's identity suite", async (t) => {
  const folder = temporaryFolder(t);
  const service = (type: PluginType) => ({ type: { case: "service" as const, value: { type } } });
  const identity = serve(Identity, {
    probe: () => ({ ready: true }),
    getPluginInfo: () => ({ name: "sanity.example.com", vendorVersion: "1.0.0" }),
    getPluginCapabilities: () => ({ capabilities: [service(PluginType.CONTROLLER_SERVICE)] }),
  });
  const driver = await startDriver(t, [identity], { address: join(folder, "csi.sock"), world: realWorld });
  const { stdout } = await promisify(execFile)(sanity, [
    "--ginkgo.focus=Identity",
    "--ginkgo.no-color",
    `--csi.endpoint=unix://${driver.path}`,
    `--csi.mountdir=${join(folder, "mount")}`,
    `--csi.stagingdir=${join(folder, "staging")}`,
  ]).catch((reason: Error & { stdout?: string }) => assert.fail(reason.stdout ?? reason.message));
  assert.match(stdout, /3 Passed \| 0 Failed/);
  const asked = driver.log.lines.flatMap(({ message, method }) => (message === "csi call finished" ? [method] : []));
  assert.deepEqual(
    new Set(asked),
    new Set(Object.values(Identity.method).map(({ name }) => `/csi.v1.Identity/${name}`)),
  );
});
