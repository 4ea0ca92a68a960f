import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import type { Host } from "./process.ts";
import { fatalMessage, runProcess } from "./process.ts";

function setUp(run: (signal: AbortSignal) => Promise<number>) {
  const world = createVirtualWorld();
  const events = new EventEmitter();
  const stdout = new EventEmitter();
  const said: string[] = [];
  const exits: number[] = [];
  const host: Host = {
    on: (event, listener) => events.on(event, listener as () => void),
    exit: (code) => void exits.push(code),
    stdout: { on: (event, listener) => stdout.on(event, listener), write: (_, done) => setImmediate(done) },
    stderr: { write: (text) => said.push(text), on: () => undefined },
  };
  const running = runProcess({ host, world, name: "snapkeep", shutdownMsMax: 5_000 }, run);
  return { world, events, stdout, said, exits, running };
}
const untilStopped = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(0)));
const never = (): Promise<number> => new Promise(() => undefined);

test("the process exits with the program's code", async () => {
  const { exits, running } = setUp(async () => 7);
  await running;
  assert.deepEqual(exits, [7]);
});

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"])
  test(`${name} stops the program gracefully, and no timer is left`, async () => {
    const { world, events, exits, said, running } = setUp(untilStopped);
    events.emit(name);
    await running;
    await world.advance(60_000);
    assert.deepEqual([exits, said, world.sleepers()], [[0], [], 0]);
  });

test("a second signal ends the process at once, except for npm's copy of the first one", async () => {
  const { world, events, exits } = setUp(never);
  events.emit("SIGINT");
  await world.advance(100);
  events.emit("SIGINT");
  assert.deepEqual(exits, []);
  await world.advance(300);
  events.emit("SIGINT");
  assert.deepEqual(exits, [130]);
});

test("a program that does not stop is ended after the stop timeout, with a message", async () => {
  const { world, events, exits, said } = setUp(never);
  events.emit("SIGTERM");
  await world.advance(4_999);
  assert.deepEqual(exits, []);
  await world.advance(1);
  assert.deepEqual([exits, said], [[1], ["snapkeep: did not stop within 5 s of SIGTERM; ending now\n"]]);
});

for (const event of ["uncaughtException", "unhandledRejection"])
  test(`an ${event} is one line, then its stack without secrets, and exit 1`, () => {
    for (const mistake of [
      new TypeError("cannot read\nx of Bearer 0123456789"),
      new Fault("Internal", "cannot read\nx of Bearer 0123456789"),
    ]) {
      const { events, exits, said } = setUp(never);
      events.emit(event, mistake);
      assert.deepEqual(exits, [1]);
      assert.equal(said[0], "snapkeep: unexpected error: cannot read; x of Bearer ***\n");
      assert.match(
        said[1] ?? "",
        /^(TypeError|Error|Fault): cannot read\nx of Bearer \*\*\*\n\s+at .*process\.test\.ts/,
      );
    }
  });

const broken = (code: string): Error => Object.assign(new Error(`${code}: write`), { code });

test("a closed output pipe is not a failure, and the program cleans up", async () => {
  let tidied = false;
  const { stdout, exits, said, running } = setUp(async (signal) => {
    await untilStopped(signal);
    tidied = true;
    return 5;
  });
  for (let write = 0; write < 3; write++) stdout.emit("error", broken("EPIPE"));
  await running;
  assert.deepEqual([exits, said, tidied], [[0], [], true]);
});

test("output that cannot be written is a failure with a message, even at the end of the program", async () => {
  const { stdout, exits, said, running } = setUp(async () => 0);
  queueMicrotask(() => process.nextTick(() => stdout.emit("error", broken("ENOSPC"))));
  await running;
  assert.deepEqual([exits, said], [[1], ["snapkeep: the output cannot be written: ENOSPC: write\n"]]);
});

test("a program that does not stop after its output pipe closed is ended after the stop timeout", async () => {
  const { world, stdout, exits } = setUp(never);
  stdout.emit("error", broken("EPIPE"));
  await world.advance(4_999);
  assert.deepEqual(exits, []);
  await world.advance(1);
  assert.deepEqual(exits, [1]);
});

test("the fatal message is one line for any thrown value", () => {
  assert.equal(fatalMessage(new Fault("Unavailable", "a\n  b")), "a; b");
  assert.equal(fatalMessage("text"), "text");
  assert.equal(fatalMessage(new RangeError()), "RangeError");
});
