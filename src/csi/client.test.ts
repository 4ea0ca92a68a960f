import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http2";
import { join } from "node:path";
import { test } from "node:test";
import {
  connectTo,
  createMemoryLog,
  eventually,
  faultOf,
  type Restartable,
  startDriver,
  startRestartable,
  temporaryFolder,
} from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault, type FaultCode, faults, isFinal } from "../base/fault.ts";
import { print } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import { realWorld, type World } from "../base/world.ts";
import { createCsiClientOver } from "./client.ts";
import {
  Controller,
  ControllerServiceCapability_RPC_Type as ControllerType,
  Identity,
  PluginCapability_Service_Type as PluginType,
} from "./gen/csi_pb.js";
import type { Sample } from "./layers.ts";
import { serve, unaryOf } from "./serve.ts";

const never = new AbortController().signal;
const canary = "c4nary-5ecret-value";

test("a call reaches the driver through a bare path and through unix://", async (t) => {
  const path = join(temporaryFolder(t), "csi.sock");
  await startDriver(t, [serve(Identity, { getPluginInfo: () => ({ name: "hostpath.csi.k8s.io" }) })], {
    address: path,
  });
  for (const address of [path, `unix://${path}`])
    assert.equal(await connectTo(t, address).pluginName(never), "hostpath.csi.k8s.io");
});

test("numbers beyond 2^53, maps and dates arrive as they were sent", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const snapshot = { snapshotId: "s", sizeBytes: 2n ** 62n + 1n, creationTime: { seconds: 1_763_200_000n, nanos: 7 } };
  let asked: unknown;
  const createSnapshot = (request: { parameters: Record<string, string> }) => {
    asked = request.parameters;
    return { snapshot };
  };
  await startDriver(t, [serve(Controller, { createSnapshot })], { address });
  const reply = await connectTo(t, address).controller.createSnapshot({ name: "s", parameters: { a: "b", ü: "€" } });
  assert.equal(reply.snapshot?.sizeBytes, 2n ** 62n + 1n);
  assert.equal(reply.snapshot.creationTime?.nanos, 7);
  assert.deepEqual(asked, { a: "b", ü: "€" });
});

test("a plugin name that cannot be part of a file name is refused", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  await startDriver(t, [serve(Identity, { getPluginInfo: () => ({ name: "../../etc/passwd" }) })], { address });
  await assert.rejects(connectTo(t, address).pluginName(never), /driver name "..\/..\/etc\/passwd" is not valid/);
});

const pluginService = (type: PluginType) => ({ type: { case: "service" as const, value: { type } } });
const controllerRpc = (type: number) => ({ type: { case: "rpc" as const, value: { type } } });

test("known capabilities are returned, unknown ones are ignored, and unannounced services are not called", async () => {
  const announced = [PluginType.CONTROLLER_SERVICE];
  const driver = unaryOf([
    serve(Identity, { getPluginCapabilities: () => ({ capabilities: announced.map(pluginService) }) }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: [ControllerType.CREATE_DELETE_SNAPSHOT, 4711, ControllerType.LIST_SNAPSHOTS].map(controllerRpc),
      }),
    }),
  ]);
  const client = createCsiClientOver(driver, { log: createMemoryLog(), world: createVirtualWorld() });
  assert.deepEqual(await client.capabilities(never), {
    plugin: new Set(["CONTROLLER_SERVICE"]),
    controller: new Set(["CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"]),
    group: new Set(),
  });
});

test("Probe is repeated until the driver is ready, and each reason is logged once", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const waits: number[] = [];
  let deadlines = 0;
  // Pauses take no time; the first probe's deadline comes at once, later ones never.
  const world: World = {
    ...realWorld,
    sleep: async (ms) => void waits.push(ms),
    after: (ms, ring) => realWorld.after(ms === limits.csiCallMsMax && deadlines++ === 0 ? 0 : ms, ring),
  };
  const { log, ...client } = connectTo(t, address, { world });
  const probing = client.probeUntilReady(never);
  await eventually("the wait is in the log", () =>
    log.lines.some(({ message }) => message === "csi driver not ready yet"),
  );

  const answers = [{ ready: false }, { ready: false }, new Fault("FailedPrecondition", "disk is missing"), {}];
  const probe = () => {
    const answer = answers.shift() ?? assert.fail("asked again after it was ready");
    if (answer instanceof Fault) throw answer;
    return answer;
  };
  await startDriver(t, [serve(Identity, { probe })], { address });
  await probing;
  const reasons = log.lines.filter(({ message }) => message === "csi driver not ready yet").map(({ why }) => why);
  assert.match(
    String(reasons[0]),
    /^Probe: no answer within 60000 ms; nothing answers at .*: is the driver running\?$/,
  );
  assert.deepEqual(reasons.slice(1), [
    "the driver answers that it is not ready",
    "rpc error: code = FailedPrecondition desc = disk is missing",
  ]);
  assert.deepEqual(waits, Array(4).fill(limits.csiProbeEveryMs));
});

test("Probe has the normal call timeout, and the log says that the driver is awaited", async () => {
  const [world, log] = [createVirtualWorld(), createMemoryLog()];
  let probes = 0;
  const probe = async () => {
    probes += 1;
    await world.sleep(8_000);
    return { ready: true };
  };
  const client = createCsiClientOver(unaryOf([serve(Identity, { probe })]), { log, world, timeoutMs: 10_000 });
  await world.run(client.probeUntilReady(never));
  assert.deepEqual([probes, world.elapsed()], [1, 8_000]);
  const reported = log.lines.filter(({ level }) => level === "info");
  const message = "csi driver has not answered Probe yet";
  assert.deepEqual(reported, [{ level: "info", message, why: "Probe has no reply", waitedMs: 1_500 }]);
  assert.equal(world.sleepers(), 0);
});

test("a driver that rejects Probe with a final code is not probed forever", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  await startDriver(t, [serve(Identity, {})], { address });
  await assert.rejects(connectTo(t, address).probeUntilReady(never), { code: "Unimplemented" });
});

test("the signal ends probing", async (t) => {
  const stop = new AbortController();
  const probing = connectTo(t, join(temporaryFolder(t), "csi.sock")).probeUntilReady(stop.signal);
  stop.abort(new Fault("Cancelled", "shutting down"));
  await assert.rejects(probing, { code: "Cancelled", message: "shutting down" });
});

const ends: readonly (readonly [string, (driver: Restartable) => Promise<void>])[] = [
  ["is killed", (driver) => driver.kill()],
  ["shuts down", (driver) => driver.stop()],
];
for (const [what, end] of ends)
  test(`a driver that ${what} in the middle of a call leaves the outcome unknown, and the next call works`, async (t) => {
    const address = join(temporaryFolder(t), "csi.sock");
    let losses = 0;
    let began = false;
    const hangs = serve(Controller, {
      createSnapshot: () => {
        began = true;
        return new Promise<never>(() => undefined);
      },
    });
    const first = await startRestartable(t, [hangs], { address, drainMs: 0 });
    const client = connectTo(t, address, { onConnectionLoss: () => losses++ });
    const call = faultOf(client.controller.createSnapshot({ name: "s" }));
    await eventually("the call has begun", () => began);
    await end(first);
    const fault = await call;
    assert.equal(isFinal(fault), false, `${fault.code}: ${fault.message}`);
    await eventually("the loss is told", () => losses === 1);

    const works = serve(Controller, { createSnapshot: () => ({ snapshot: { snapshotId: "handle" } }) });
    await startDriver(t, [works], { address });
    assert.equal((await client.controller.createSnapshot({ name: "s" })).snapshot?.snapshotId, "handle");
    assert.equal(losses, 1);
  });

test("a call waits for an unavailable driver", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const waiting = connectTo(t, address).pluginName(never);
  await startDriver(t, [serve(Identity, { getPluginInfo: () => ({ name: "late.example.com" }) })], { address });
  assert.equal(await waiting, "late.example.com");
});

test("a waiting call is checked by the leader guard again before it is sent", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  let leads = true;
  const asked: string[] = [];
  const refusal = () => (leads ? undefined : new Fault("Aborted", "the lease is gone"));
  const client = connectTo(t, address, { refusal });
  const waiting = faultOf(client.controller.createSnapshot({ name: "decided-while-leading" }));
  leads = false;
  const createSnapshot = ({ name }: { name: string }) => {
    asked.push(name);
    return { snapshot: { snapshotId: "handle" } };
  };
  await startDriver(t, [serve(Controller, { createSnapshot })], { address });
  const fault = await waiting;
  assert.deepEqual([fault.code, fault.message], ["Aborted", "the lease is gone"]);
  leads = true;
  await client.controller.createSnapshot({ name: "decided-by-a-leader" });
  assert.deepEqual(asked, ["decided-by-a-leader"]);
});

test("a call that reaches its deadline is cancelled on both sides", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const world = createVirtualWorld();
  let state = "not called";
  const hangs = serve(Controller, {
    createSnapshot: (_request, signal) =>
      new Promise((_resolve, reject) => {
        state = "running";
        signal.addEventListener("abort", () => {
          state = "stopped";
          reject(signal.reason);
        });
      }),
  });
  await startDriver(t, [hangs], { address });
  const client = connectTo(t, address, { world, timeoutMs: 30_000 });
  const call = client.controller.createSnapshot({ name: "s" });
  await eventually("the call is running", () => state === "running");
  await Promise.all([
    world.advance(30_000),
    assert.rejects(call, { code: "DeadlineExceeded", message: "CreateSnapshot: no answer within 30000 ms" }),
  ]);
  await eventually("the call has stopped", () => state === "stopped");
});

test("a call sends its timeout and an authority that Go servers accept", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const headers = Promise.withResolvers<IncomingHttpHeaders>();
  const server = createServer().on("stream", (_stream, received) => headers.resolve(received));
  await new Promise<void>((resolve) => server.listen(address, resolve));
  t.after(() => server.close());
  const stop = new AbortController();
  const call = faultOf(connectTo(t, address).identity.probe({}, { signal: stop.signal, timeoutMs: 30_000 }));
  const { "grpc-timeout": timeout, ":authority": authority, ":path": path } = await headers.promise;
  stop.abort();
  await call;
  assert.deepEqual([timeout, authority, path], ["30000m", "localhost", "/csi.v1.Identity/Probe"]);
});

test("an aborted call is cancelled with the caller's reason", async (t) => {
  const stop = new AbortController();
  const call = connectTo(t, join(temporaryFolder(t), "csi.sock")).identity.getPluginInfo({}, { signal: stop.signal });
  stop.abort(new Fault("Cancelled", "lost the lease"));
  await assert.rejects(call, { code: "Cancelled", message: "lost the lease" });
});

test("a driver's error becomes the fault with the same gRPC code", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const deleteSnapshot = ({ snapshotId }: { snapshotId: string }) => {
    throw new Fault(snapshotId as FaultCode, `told: ${snapshotId}`);
  };
  await startDriver(t, [serve(Controller, { deleteSnapshot })], { address });
  const client = connectTo(t, address);
  for (const code of (Object.keys(faults) as FaultCode[]).filter((code) => faults[code].grpc !== 2))
    await assert.rejects(client.controller.deleteSnapshot({ snapshotId: code }), (reason) => {
      assert.ok(reason instanceof Fault);
      assert.equal(faults[reason.code].grpc, faults[code].grpc);
      assert.match(reason.message, /^rpc error: code = [A-Z][A-Za-z]+ desc = told: /);
      return true;
    });
});

test("no secret is in logs, errors or metrics of client and server", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const createVolume = ({ secrets }: { secrets: Record<string, string> }) => {
    throw new Error(`cannot log in with ${secrets.password}`);
  };
  const driver = await startDriver(t, [serve(Controller, { createVolume })], { address });
  const samples: Sample[] = [];
  const client = connectTo(t, address, { measure: (sample) => samples.push(sample) });
  const fault = await faultOf(client.controller.createVolume({ name: "v", secrets: { password: canary } }));
  assert.equal(fault.message, "rpc error: code = Internal desc = CreateVolume: cannot log in with [redacted]");
  assert.equal(samples[0]?.status, "Internal");
  const everything = print([driver.log.lines, client.log.lines, fault.message, fault.stack, samples]);
  assert.ok(everything.includes("[redacted]") && !everything.includes(canary), everything);
});
