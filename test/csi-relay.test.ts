import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Controller, VolumeCapability_AccessMode_Mode as Mode } from "../src/csi/gen/csi_pb.js";
import { serve } from "../src/csi/serve.ts";
import { createCsiRelay } from "./csi-relay.ts";
import { connectTo, inTime, startDriver, temporaryFolder } from "./csi-sockets.ts";

async function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const done: string[] = [];
  const services = [
    serve(Controller, {
      controllerGetCapabilities: () => ({}),
      createVolume: ({ name }) => {
        done.push(`create ${name}`);
        return { volume: { volumeId: `id-${name}` } };
      },
      deleteVolume: ({ volumeId }) => {
        done.push(`delete ${volumeId}`);
        return {};
      },
    }),
  ];
  const driver = await startDriver(t, services, { address: join(folder, "driver.sock") });
  const relay = await createCsiRelay(driver.path, join(folder, "relay.sock"));
  t.after(relay.close);
  const { controller, close } = connectTo(t, relay.socket);
  const create = (name: string) =>
    controller.createVolume({ name, volumeCapabilities: [{ accessMode: { mode: Mode.SINGLE_NODE_WRITER } }] });
  return { relay, controller, close, create, done };
}

test("calls and replies pass, large ones too", async (t) => {
  const { controller, create, done } = await setUp(t);
  await controller.controllerGetCapabilities({});
  const name = `pvc-${"x".repeat(100_000)}`;
  assert.equal((await create(name)).volume?.volumeId, `id-${name}`);
  await controller.deleteVolume({ volumeId: "id-1" });
  assert.deepEqual(done, [`create ${name}`, "delete id-1"]);
});

test("a call is kept before the driver sees it, and none of another kind", async (t) => {
  const { relay, controller, create, done } = await setUp(t);
  const { held, release } = relay.keep("CreateVolume", "before");
  await controller.deleteVolume({ volumeId: "id-0" });
  const created = create("pvc-1");
  await inTime("a call is kept", held);
  assert.deepEqual(done, ["delete id-0"]);
  release();
  assert.equal((await created).volume?.volumeId, "id-pvc-1");
  assert.deepEqual(done, ["delete id-0", "create pvc-1"]);
});

test("a reply is kept when the driver has done what was asked, and lost with its sidecar", async (t) => {
  const { relay, controller, close, create, done } = await setUp(t);
  await create("pvc-1");
  const { held } = relay.keep("DeleteVolume", "after");
  let isAnswered = false;
  const removed = controller.deleteVolume({ volumeId: "id-pvc-1" }).then(
    () => {
      isAnswered = true;
    },
    () => undefined,
  );
  await inTime("a reply is kept", held);
  assert.deepEqual(done, ["create pvc-1", "delete id-pvc-1"]);
  close();
  await removed;
  assert.equal(isAnswered, false);
});

test("what is released before it came is not kept", async (t) => {
  const { relay, create } = await setUp(t);
  let isKept = false;
  const { held, release } = relay.keep("CreateVolume", "before");
  void held.then(() => {
    isKept = true;
  });
  release();
  await create("pvc-1");
  assert.equal(isKept, false);
});
