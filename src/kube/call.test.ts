import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { isFault } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import { createCaller, type Outgoing } from "./call.ts";

const ok: HttpResponse = { status: 200, headers: {}, body: "{}" };

/** A server whose connections are busy for a while, and which then takes a while to answer. */
const slow = (unsentMs: number, answerMs: number) => {
  const world = createVirtualWorld();
  const handler = async (request: Outgoing): Promise<HttpResponse> => {
    request.onProgress?.("waiting");
    await world.sleep(unsentMs, request.signal);
    request.onProgress?.("sent");
    await world.sleep(answerMs, request.signal);
    return ok;
  };
  const { text } = createCaller({ handler, world });
  return world.run(text({ method: "PATCH", path: "/api/v1/pods?x=1", headers: {} }), 200_000);
};

test("the response timeout starts when the request is sent, not while it waits for a connection", async () => {
  assert.equal(await slow(65_000, 29_000), "{}");
});

test("a request without a connection counts as not sent", () =>
  assert.rejects(
    slow(71_000, 0),
    (reason) =>
      isFault(reason, "Unavailable") &&
      reason.message ===
        "PATCH /api/v1/pods was not sent: no connection to the API server was free or could be made within 70 s",
  ));

test("a sent request without a response has an unknown outcome", () =>
  assert.rejects(
    slow(10_000, 31_000),
    (reason) =>
      isFault(reason, "DeadlineExceeded") && /^PATCH \/api\/v1\/pods got no answer within 30 s$/.test(reason.message),
  ));

test("a repeated request has its own connection and response timeouts", async () => {
  const world = createVirtualWorld();
  const handler = async (request: Outgoing): Promise<HttpResponse> => {
    for (let attempts = 0; attempts < 2; attempts++) {
      request.onProgress?.("waiting");
      await world.sleep(40_000, request.signal);
      request.onProgress?.("sent");
      await world.sleep(20_000, request.signal);
    }
    return ok;
  };
  const { text } = createCaller({ handler, world });
  assert.equal(await world.run(text({ method: "GET", path: "/api", headers: {} }), 200_000), "{}");
});

test("a progress report of a finished request starts no timer", async () => {
  const world = createVirtualWorld();
  let report: Outgoing["onProgress"];
  const handler = async (request: Outgoing): Promise<HttpResponse> => {
    report = request.onProgress;
    return ok;
  };
  await createCaller({ handler, world }).text({ method: "GET", path: "/api", headers: {} });
  report?.("sent");
  assert.equal(world.sleepers(), 0);
});
