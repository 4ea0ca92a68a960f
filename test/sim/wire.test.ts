import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { createVirtualWorld } from "../virtual-world.ts";
import { createIncarnation } from "./incarnation.ts";
import { createWire, type Stage } from "./wire.ts";

const answer = '{"metadata":{"resourceVersion":"3"}}';

/** What a process learns from the response to one call, which takes five seconds. */
async function reportedBy(giveUpAfterMs: number | undefined): Promise<readonly string[]> {
  const world = createVirtualWorld(1);
  const reported: string[] = [];
  const harness = {
    world,
    latencyMs: () => 0,
    strike: () => ({ boundary: {}, verdict: { effect: true, replyMs: 5_000 } }),
    serve: async () => ({ status: 200, headers: {}, body: answer }),
    knowledge: {
      reported: (_: string, __: number, text: string) => void reported.push(text),
      answered: () => void reported.push("answered"),
    },
  } as unknown as Stage;
  const incarnation = createIncarnation("snapshot-controller", "snapshot-controller.1", world);
  const patience = new AbortController();
  if (giveUpAfterMs !== undefined) void world.sleep(giveUpAfterMs).then(() => patience.abort("too late"));
  void createWire(
    harness,
    incarnation,
    () => undefined,
  )({ method: "GET", path: "/x", headers: {}, signal: patience.signal });
  await world.advance(10_000);
  return reported;
}

test("the response to a call counts as known to its sender", async () =>
  assert.deepEqual(await reportedBy(undefined), [answer, "answered"]));

test("the response to an abandoned call counts as known to no process", async () =>
  assert.deepEqual(await reportedBy(1_000), []));

test("a request that leaves late is judged by the time it was handed over", async () => {
  const world = createVirtualWorld(1);
  const served: (readonly [number, number])[] = [];
  const incarnation = createIncarnation("snapshot-controller", "snapshot-controller.1", world);
  const context = {
    world,
    latencyMs: () => 0,
    strike: () => {
      incarnation.freeze(2_000);
      return { boundary: {}, verdict: { effect: true, heldBack: true } };
    },
    left: () => undefined,
    serve: async (_: unknown, __: unknown, decidedMs: number) => {
      served.push([decidedMs, world.elapsed()]);
      return { status: 200, headers: {}, body: answer };
    },
    knowledge: { reported: () => undefined, answered: () => undefined },
  } as unknown as Stage;
  void createWire(context, incarnation, () => undefined)({ method: "PUT", path: "/x", headers: {} });
  await world.advance(10_000);
  assert.deepEqual(served, [[0, 2_000]]);
});

test("a request that the transport refuses to send is not a call", async () => {
  const world = createVirtualWorld(1);
  const stage = { world, strike: () => assert.fail("it was sent") } as unknown as Stage;
  const incarnation = createIncarnation("snapshot-controller", "snapshot-controller.1", world);
  const send = createWire(stage, incarnation, () => new Fault("Aborted", "no longer leading"));
  await assert.rejects(async () => send({ method: "PUT", path: "/x", headers: {} }), { code: "Aborted" });
});
