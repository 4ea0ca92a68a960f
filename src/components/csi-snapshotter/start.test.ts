import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, driver } from "../../../test/builders.ts";
import { createFakeKube } from "../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { silent } from "../../base/log.ts";
import { ControllerServiceCapability_RPC_Type as Capability, Controller, Identity } from "../../csi/gen/csi_pb.js";
import { serve, unaryOf } from "../../csi/serve.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import { createLocalContext } from "../../runtime/context.ts";
import { start } from "./start.ts";

const options = {
  csiAddress: "in this process",
  timeout: 60_000,
  snapshotNamePrefix: "snapshot",
  snapshotNameUuidLength: -1,
  extraCreateMetadata: false,
  nodeDeployment: false,
  nodeName: "",
};

async function setUp(capabilities: readonly (keyof typeof Capability)[]) {
  const world = createVirtualWorld();
  const kube = createFakeKube();
  for (const object of [aClass(), aContent()]) await kube.create(object.kind as never, object as never);
  const stop = new AbortController();
  const context = createLocalContext({
    name: "csi-snapshotter",
    api: kube as unknown as ComponentContext["api"],
    world,
    log: silent,
    signal: stop.signal,
    workers: 10,
    backoff: { startMs: 1_000, maxMs: 60_000 },
  });
  const calls = unaryOf([
    serve(Identity, { probe: () => ({}), getPluginInfo: () => ({ name: driver }) }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: capabilities.map((name) => ({ type: { case: "rpc", value: { type: Capability[name] } } })),
      }),
      createSnapshot: () => ({ snapshot: { snapshotId: "handle", creationTime: { seconds: 1n }, readyToUse: true } }),
    }),
  ]);
  return { world, kube, stop, context, calls };
}

test("without a command line the sidecar takes snapshots and counts its calls all the same", async () => {
  const { world, kube, stop, context, calls } = await setUp(["CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"]);
  const component = await start(context, options, { calls });
  assert.equal(component.leaseName, "external-snapshotter-leader-disk-example-com");
  const running = Promise.all([component.watch?.(stop.signal), component.run(stop.signal)]);
  await world.advance(1_000);
  assert.equal(component.ready?.(), undefined);
  assert.equal(kube.stored("VolumeSnapshotContent")[0]?.status?.snapshotHandle, "handle");
  const { text } = await context.metrics.scrape();
  assert.match(
    text,
    /csi_sidecar_operations_seconds_count\{driver_name="disk\.example\.com",method_name="\/csi\.v1\.Controller\/CreateSnapshot",grpc_status_code="OK"\} 1/,
  );
  assert.match(text, /workqueue_adds_total\{name="csi-snapshotter-content"\} [1-9]/);
  stop.abort();
  await running;
});

test("a driver that takes no snapshots is refused by name", async () => {
  const { context, calls } = await setUp(["LIST_SNAPSHOTS"]);
  await assert.rejects(
    start(context, options, { calls }),
    /^Fault: driver disk\.example\.com at in this process does not take snapshots \(no CREATE_DELETE_SNAPSHOT\)/,
  );
});
