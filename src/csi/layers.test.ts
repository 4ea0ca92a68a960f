import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type Message } from "@bufbuild/protobuf";
import { createMemoryLog, faultOf } from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault, isFault } from "../base/fault.ts";
import { print } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import { Controller, CreateSnapshotResponseSchema } from "./gen/csi_pb.js";
import { createLocks, deadlined, type Layer, layered, locked, logged, measured, type Sample } from "./layers.ts";
import type { CsiCall, Unary } from "./wire.ts";

const canary = "c4nary-5ecret-value";
const aCall = (name = "snapshot-1"): CsiCall => {
  const method = Controller.method.createSnapshot;
  const request = create(method.input, { name, sourceVolumeId: "volume-1", secrets: { password: canary } });
  return { method, request, timeoutMs: 60_000 };
};
const aReply: Message = create(CreateSnapshotResponseSchema, { snapshot: { snapshotId: "handle-1" } });
const never = new AbortController().signal;

test("the first layer named is the outermost", async () => {
  const order: string[] = [];
  const note =
    (name: string): Layer =>
    (next) =>
    (call, signal) => {
      order.push(name);
      return next(call, signal);
    };
  await layered(async () => aReply, note("outer"), note("inner"))(aCall(), never);
  assert.deepEqual(order, ["outer", "inner"]);
});

test("a finished call is logged with its time, request and reply, and without its secrets", async () => {
  const [log, world] = [createMemoryLog(), createVirtualWorld()];
  const slow: Unary = async () => {
    await world.sleep(250);
    return aReply;
  };
  await world.run(layered(slow, logged(log, world))(aCall(), never));
  assert.deepEqual(log.lines, [
    {
      level: "trace",
      message: "csi call finished",
      method: "/csi.v1.Controller/CreateSnapshot",
      tookMs: 250,
      request: { name: "snapshot-1", sourceVolumeId: "volume-1", secrets: "[redacted]" },
      reply: { snapshot: { snapshotId: "handle-1" } },
    },
  ]);
});

test("a reply that echoes a secret is logged without it, and passed on with it", async () => {
  const log = createMemoryLog();
  const echo = create(CreateSnapshotResponseSchema, { snapshot: { snapshotId: `s-${btoa(`admin:${canary}`)}` } });
  const reply = await layered(async () => echo, logged(log, createVirtualWorld()))(aCall(), never);
  assert.equal(reply, echo);
  assert.deepEqual(log.lines[0]?.reply, { snapshot: { snapshotId: "[redacted]" } });
});

test("a secret in a driver's error is removed from the log line and from the returned error", async () => {
  const log = createMemoryLog();
  const failing: Unary = async () => {
    throw new Fault("InvalidArgument", `password ${canary} is wrong`, { cause: new Error(canary), details: canary });
  };
  const fault = await faultOf(layered(failing, logged(log, createVirtualWorld()))(aCall(), never));
  assert.equal(fault.code, "InvalidArgument");
  assert.equal(fault.message, "password [redacted] is wrong");
  const everything = print([log.lines, fault.message, fault.stack, String(fault.cause), String(fault.details)]);
  assert.ok(!everything.includes(canary), everything);
});

test("an error that is no fault is logged with its stack, without the secrets", async () => {
  const log = createMemoryLog();
  const failing: Unary = async () => {
    throw new TypeError(`cannot read ${canary}`);
  };
  await faultOf(layered(failing, logged(log, createVirtualWorld()))(aCall(), never));
  assert.match(String(log.lines[0]?.stack), /^TypeError: cannot read \[redacted\]\n\s+at failing /);
});

test("a long error text is truncated, and not in the middle of a secret", async () => {
  const failing: Unary = async () => {
    throw new Fault("Internal", `${"x".repeat(limits.csiErrorCharsMax - 5)}${canary}${"y".repeat(60_000)}`);
  };
  const { message } = await faultOf(layered(failing, logged(createMemoryLog(), createVirtualWorld()))(aCall(), never));
  assert.equal(message.length, limits.csiErrorCharsMax);
  assert.match(message, /x\[red…$/);
});

test("a call without a reply ends at its deadline and aborts the work", async () => {
  const world = createVirtualWorld();
  let reported: unknown;
  const silent: Unary = (_call, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reported = signal.reason;
        reject(signal.reason);
      });
    });
  const call = layered(silent, deadlined(world))(aCall(), never);
  await world.advance(59_999);
  assert.equal(reported, undefined);
  await assert.rejects(world.run(call), {
    code: "DeadlineExceeded",
    message: "CreateSnapshot: no answer within 60000 ms",
  });
  assert.ok(isFault(reported, "DeadlineExceeded"));
});

test("a call that ends in time leaves no timer behind", async () => {
  const world = createVirtualWorld();
  assert.equal(await layered(async () => aReply, deadlined(world))(aCall(), never), aReply);
  await world.advance(0);
  assert.equal(world.sleepers(), 0);
});

test("an aborting caller cancels the call with its own reason", async () => {
  const caller = new AbortController();
  const waiting: Unary = (_call, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const call = layered(waiting, deadlined(createVirtualWorld()))(aCall(), caller.signal);
  caller.abort(new Fault("Cancelled", "shutting down"));
  await assert.rejects(call, { code: "Cancelled", message: "shutting down" });
});

test("every call is measured under its wire name, with its status and time", async () => {
  const world = createVirtualWorld();
  const samples: Sample[] = [];
  const measure = measured((sample) => samples.push(sample), world);
  const after =
    (ms: number, fault?: Fault): Unary =>
    async () => {
      await world.sleep(ms);
      if (fault !== undefined) throw fault;
      return aReply;
    };
  await world.run(layered(after(5), measure)(aCall(), never));
  await assert.rejects(world.run(layered(after(7, new Fault("Aborted", "")), measure)(aCall(), never)));
  const method = "/csi.v1.Controller/CreateSnapshot";
  assert.deepEqual(samples, [
    { method, status: "OK", tookMs: 5 },
    { method, status: "Aborted", tookMs: 7 },
  ]);
});

test("a second call for the same name is aborted while the first runs, one for another name is not", async () => {
  const gate = Promise.withResolvers<Message>();
  const call = layered(() => gate.promise, locked(createLocks()));
  const first = call(aCall("snapshot-1"), never);
  const other = call(aCall("snapshot-2"), never);
  await assert.rejects(call(aCall("snapshot-1"), never), {
    code: "Aborted",
    message: "an operation is pending for snapshot named snapshot-1: try again later",
  });
  gate.resolve(aReply);
  assert.deepEqual(await Promise.all([first, other]), [aReply, aReply]);
  assert.equal(await call(aCall("snapshot-1"), never), aReply, "the lock opens when the work has ended");
});

test("a lock is released when the work fails", async () => {
  const call = layered(() => Promise.reject(new Fault("Internal", "broken")), locked(createLocks()));
  await assert.rejects(call(aCall(), never), { code: "Internal" });
  await assert.rejects(call(aCall(), never), { code: "Internal" });
});
