/** A driver that restarts as another version under a running sidecar: what it can do may have changed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { driver, policy, startHarness } from "../../../test/command-harness.ts";
import { eventually, startDriver, startRestartable, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { ControllerServiceCapability_RPC_Type as Capability, Controller, Identity } from "../../csi/gen/csi_pb.js";
import { type Served, serve } from "../../csi/serve.ts";

/** It knows no snapshot; asked for one, it says so where it can list. */
const emptyDriver = (...capabilities: readonly Capability[]): readonly Served[] => [
  serve(Identity, { getPluginInfo: () => ({ name: driver, vendorVersion: "1" }), probe: () => ({ ready: true }) }),
  serve(Controller, {
    controllerGetCapabilities: () => ({
      capabilities: capabilities.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    ...(capabilities.includes(Capability.LIST_SNAPSHOTS) ? { listSnapshots: () => ({ entries: [] }) } : {}),
  }),
];
const [creations, lists] = [Capability.CREATE_DELETE_SNAPSHOT, Capability.LIST_SNAPSHOTS];

/** A sidecar beside a driver that can be replaced, and a content with a handle that does not exist. */
async function setUp(t: TestContext, first: readonly Served[]) {
  const address = join(temporaryFolder(t), "csi.sock");
  const { client, start } = await startHarness(t);
  const old = await startRestartable(t, first, { address, drainMs: 0 });
  const { said } = start("csi-snapshotter", `--csi-address=${address}`, "--retry-interval-start=100ms", "-v=5");
  await eventually("the sidecar works", () => said().includes("controller started"));
  const create = async (): Promise<void> => {
    const volumeSnapshotRef = { namespace: "default", name: "adopted" };
    const spec = { ...policy, source: { snapshotHandle: "nobody-has-this" }, volumeSnapshotRef };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "c" }, { spec }));
  };
  const status = async () => (await client.get({ kind: "VolumeSnapshotContent", name: "c" })).status;
  const restart = async (services: readonly Served[], meanwhile?: () => Promise<void>): Promise<void> => {
    await old.kill();
    await eventually("the sidecar notices", () => said().includes("connection to the driver lost"));
    await meanwhile?.();
    await startDriver(t, services, { address });
  };
  return { create, status, restart };
}

test("after a driver restart with LIST_SNAPSHOTS a missing handle is not reported as ready", async (t) => {
  const { create, status, restart } = await setUp(t, emptyDriver(creations));
  await restart(emptyDriver(creations, lists), create);
  await eventually("the user is told", async () => (await status())?.error !== undefined);
  assert.match((await status())?.error?.message ?? "", /nobody-has-this/);
  assert.notEqual((await status())?.readyToUse, true);
});

test("after a driver restart without LIST_SNAPSHOTS a handle is accepted as ready", async (t) => {
  const { create, status, restart } = await setUp(t, emptyDriver(creations, lists));
  await create();
  await eventually("the user is told", async () => (await status())?.error !== undefined);
  await restart(emptyDriver(creations));
  await eventually("the content is ready", async () => (await status())?.readyToUse === true);
});
