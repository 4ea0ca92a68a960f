import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  connectTo,
  createMemoryLog,
  eventually,
  startDriver,
  startRestartable,
  temporaryFolder,
} from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { realWorld } from "../base/world.ts";
import { createCurrentCapabilities } from "./current-capabilities.ts";
import { Controller, ControllerServiceCapability_RPC_Type as Type } from "./gen/csi_pb.js";
import { serve } from "./serve.ts";

const withCapabilities = (...types: readonly Type[]) =>
  serve(Controller, {
    controllerGetCapabilities: () => ({
      capabilities: types.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
  });

const restarts: readonly (readonly [string, readonly Type[], readonly Type[]])[] = [
  ["without LIST_SNAPSHOTS", [Type.CREATE_DELETE_SNAPSHOT, Type.LIST_SNAPSHOTS], [Type.CREATE_DELETE_SNAPSHOT]],
  ["with LIST_SNAPSHOTS", [Type.CREATE_DELETE_SNAPSHOT], [Type.CREATE_DELETE_SNAPSHOT, Type.LIST_SNAPSHOTS]],
];
for (const [what, before, after] of restarts)
  test(`the capabilities of a driver that restarts ${what} are read again without a call`, async (t) => {
    const address = join(temporaryFolder(t), "csi.sock");
    const stop = new AbortController();
    t.after(() => stop.abort());
    const old = await startRestartable(t, [withCapabilities(...before)], { address, drainMs: 0 });
    let lost = (): void => undefined;
    const client = connectTo(t, address, { onConnectionLoss: () => lost() });
    let reads = 0;
    const capabilities = createCurrentCapabilities({
      csi: client,
      first: await client.controllerCapabilities(stop.signal),
      world: realWorld,
      log: createMemoryLog(),
      signal: stop.signal,
      onRead: () => reads++,
    });
    lost = capabilities.connectionLost;
    const canList = (): boolean | undefined => capabilities.current()?.has("LIST_SNAPSHOTS");
    assert.equal(canList(), before.includes(Type.LIST_SNAPSHOTS));

    await old.kill();
    await eventually("nothing is known of the driver", () => canList() === undefined);
    await startDriver(t, [withCapabilities(...after)], { address });
    await eventually("the capabilities were read again", () => reads === 1);
    assert.equal(canList(), after.includes(Type.LIST_SNAPSHOTS));
  });

test("capabilities are requested until the driver replies, and a reply from before the last disconnect is ignored", async () => {
  const world = createVirtualWorld();
  const log = createMemoryLog();
  const answers: PromiseWithResolvers<ReadonlySet<"LIST_SNAPSHOTS">>[] = [];
  const ask = (): Promise<ReadonlySet<"LIST_SNAPSHOTS">> => {
    const answer = Promise.withResolvers<ReadonlySet<"LIST_SNAPSHOTS">>();
    answers.push(answer);
    return answer.promise;
  };
  const { signal } = new AbortController();
  let reads = 0;
  const capabilities = createCurrentCapabilities({
    csi: { controllerCapabilities: ask },
    first: new Set(["LIST_SNAPSHOTS"]),
    world,
    log,
    signal,
    onRead: () => reads++,
  });
  capabilities.connectionLost();
  capabilities.connectionLost();
  answers[0]?.resolve(new Set(["LIST_SNAPSHOTS"]));
  answers[1]?.reject(new Fault("Unavailable", "still starting"));
  await world.advance(0);
  assert.deepEqual([capabilities.current(), reads], [undefined, 0]);
  await world.advance(1_000);
  assert.equal(answers.length, 3);
  answers[2]?.resolve(new Set());
  await world.advance(0);
  assert.deepEqual([capabilities.current(), reads], [new Set(), 1]);
  const disconnected = {
    level: "info",
    message: "connection to the driver lost, its capabilities are read again when it is back",
  };
  assert.deepEqual(log.lines, [
    disconnected,
    disconnected,
    { level: "info", message: "driver reconnected with other capabilities", gained: [], lost: ["LIST_SNAPSHOTS"] },
  ]);
});

test("after an abort capabilities are not requested any more", async () => {
  const world = createVirtualWorld();
  const stop = new AbortController();
  let asked = 0;
  const capabilities = createCurrentCapabilities({
    csi: { controllerCapabilities: async () => Promise.reject(new Fault("Unavailable", `asked ${asked++}`)) },
    first: new Set(),
    world,
    log: createMemoryLog(),
    signal: stop.signal,
    onRead: () => assert.fail("nothing was read"),
  });
  capabilities.connectionLost();
  await world.advance(0);
  stop.abort(new Fault("Cancelled", "shutting down"));
  await world.advance(60_000);
  assert.equal(asked, 1);
  assert.equal(world.sleepers(), 0);
});
