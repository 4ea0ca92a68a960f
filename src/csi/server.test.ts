import assert from "node:assert/strict";
import { existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { connectTo, eventually, faultOf, startDriver, temporaryFolder } from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { isFault } from "../base/fault.ts";
import { Controller, Identity } from "./gen/csi_pb.js";
import type { Sample } from "./layers.ts";
import { serve } from "./serve.ts";

const aDriver = serve(Identity, { getPluginInfo: () => ({ name: "test.example.com" }) });
const never = new AbortController().signal;

test("a socket left behind by a dead process is replaced", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  await leaveSocketAt(address);
  await startDriver(t, [aDriver], { address });
  assert.equal(await connectTo(t, address).pluginName(never), "test.example.com");
});

/** The name of a listening socket is moved before it is closed, so that closing cannot remove the file. */
async function leaveSocketAt(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.old`, resolve));
  renameSync(`${path}.old`, path);
  await new Promise((resolve) => server.close(resolve));
  assert.ok(statSync(path).isSocket());
}

test("a socket with a listening process is not replaced", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  await startDriver(t, [aDriver], { address });
  const fault = await faultOf(startDriver(t, [aDriver], { address }));
  assert.match(fault.message, /^another process answers at .*csi\.sock: stop it, or choose another address$/);
  assert.equal(await connectTo(t, address).pluginName(never), "test.example.com");
});

test("a file that is not a socket is not replaced", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  writeFileSync(address, "precious");
  const fault = await faultOf(startDriver(t, [aDriver], { address }));
  assert.match(fault.message, /csi\.sock exists and is not a socket: move it away/);
  assert.equal(statSync(address).size, 8);
});

test("the error names a missing folder", async (t) => {
  const address = join(temporaryFolder(t), "missing", "csi.sock");
  const fault = await faultOf(startDriver(t, [aDriver], { address }));
  assert.equal(fault.code, "FailedPrecondition");
  assert.match(fault.message, /socket .*\/missing\/csi\.sock cannot be made: its folder does not exist/);
});

test("an unusable socket folder is an error with a remedy", async (t) => {
  const file = join(temporaryFolder(t), "file");
  writeFileSync(file, "");
  const fault = await faultOf(startDriver(t, [aDriver], { address: join(file, "folder", "csi.sock") }));
  assert.match(fault.message, /cannot be made: a part of the path is a file, not a folder, choose another folder$/);
});

test("only the owner may connect, unless another mode is set", async (t) => {
  const folder = temporaryFolder(t);
  const modeOf = async (name: string, mode?: number): Promise<number> =>
    statSync((await startDriver(t, [aDriver], { address: join(folder, name), mode })).path).mode & 0o777;
  assert.equal(await modeOf("a.sock"), 0o600);
  assert.equal(await modeOf("b.sock", 0o660), 0o660);
});

test("a second call for one volume gets Aborted until the first has ended, even after its caller disconnected", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const deleteVolume = async () => {
    running++;
    await gate.promise;
    running--;
    return {};
  };
  await startDriver(t, [serve(Controller, { deleteVolume })], { address });
  const { controller } = connectTo(t, address);
  const caller = new AbortController();
  const first = faultOf(controller.deleteVolume({ volumeId: "v" }, { signal: caller.signal }));
  await eventually("the call is running", () => running === 1);
  caller.abort();
  assert.equal((await first).code, "Cancelled");

  const second = await faultOf(controller.deleteVolume({ volumeId: "v" }));
  assert.equal(second.code, "Aborted");
  assert.equal(
    second.message,
    "rpc error: code = Aborted desc = an operation is pending for volume v: try again later",
  );
  gate.resolve();
  await eventually("the call has stopped", () => running === 0);
  await controller.deleteVolume({ volumeId: "v" });
});

test("a missing method is Unimplemented, in implemented and in missing services", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  await startDriver(t, [aDriver], { address });
  const client = connectTo(t, address);
  const calls = [client.identity.probe({}), client.node.nodeGetInfo({})];
  const answers = await Promise.all(calls.map(faultOf));
  assert.deepEqual(
    answers.map(({ code }) => code),
    ["Unimplemented", "Unimplemented"],
  );
});

test("an exception of a handler is Internal for the caller and a line in the log", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const samples: Sample[] = [];
  const createVolume = () => {
    throw new TypeError("x is not a function");
  };
  const driver = await startDriver(t, [serve(Controller, { createVolume })], {
    address,
    measure: (sample) => samples.push(sample),
  });
  const fault = await faultOf(connectTo(t, address).controller.createVolume({ name: "v" }));
  assert.equal(fault.code, "Internal");
  assert.match(fault.message, /x is not a function/);
  assert.ok(
    driver.log.lines.some(({ message, error }) => message === "csi call failed" && String(error).includes("x is")),
  );
  assert.deepEqual(
    samples.map(({ method, status }) => [method, status]),
    [["/csi.v1.Controller/CreateVolume", "Internal"]],
  );
});

test("a shutdown finishes running calls, rejects new ones and removes the socket", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const gate = Promise.withResolvers<void>();
  let began = false;
  const createVolume = async () => {
    began = true;
    await gate.promise;
    return { volume: { volumeId: "v" } };
  };
  const driver = await startDriver(t, [serve(Controller, { createVolume })], { address });
  const running = connectTo(t, address).controller.createVolume({ name: "v" });
  await eventually("the call has begun", () => began);
  const stopped = driver.stop();
  await assert.rejects(new Promise((resolve, reject) => connect(address).on("connect", resolve).on("error", reject)));
  gate.resolve();
  assert.equal((await running).volume?.volumeId, "v");
  await stopped;
  assert.ok(!existsSync(address));
});

test("a call that exceeds the drain time is cancelled on both sides", async (t) => {
  const address = join(temporaryFolder(t), "csi.sock");
  const world = createVirtualWorld();
  let reported: unknown;
  let began = false;
  const createVolume = (_request: unknown, signal: AbortSignal) => {
    began = true;
    signal.addEventListener("abort", () => {
      reported = signal.reason;
    });
    return new Promise<never>(() => undefined);
  };
  const driver = await startDriver(t, [serve(Controller, { createVolume })], { address, world, drainMs: 5_000 });
  const running = faultOf(connectTo(t, address).controller.createVolume({ name: "v" }));
  await eventually("the call has begun", () => began);
  const stopped = driver.stop();
  await world.advance(4_999);
  assert.equal(reported, undefined);
  await world.advance(1);
  const fault = await running;
  await stopped;
  assert.equal(fault.code, "Unavailable");
  assert.equal(fault.message, "rpc error: code = Unavailable desc = the driver is shutting down");
  assert.ok(isFault(reported, "Unavailable"));
});
