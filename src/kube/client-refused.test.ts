/** A server that refuses, is busy, or does not answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, ok, ref, refusal, scripted } from "../../test/scripted-server.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { isFault } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";

const refusals: readonly { answer: HttpResponse; code: string }[] = [
  { answer: refusal(404, "NotFound"), code: "NotFound" },
  { answer: refusal(409, "AlreadyExists"), code: "AlreadyExists" },
  { answer: refusal(409, "Conflict"), code: "Conflict" },
  { answer: refusal(403, "Forbidden"), code: "PermissionDenied" },
  { answer: refusal(401, "Unauthorized"), code: "Unauthenticated" },
  { answer: refusal(400, "BadRequest"), code: "InvalidArgument" },
  { answer: refusal(405, "MethodNotAllowed"), code: "MethodNotAllowed" },
  { answer: refusal(410, "Gone"), code: "Expired" },
  { answer: refusal(413, "RequestEntityTooLarge"), code: "TooLarge" },
  { answer: refusal(415, "UnsupportedMediaType"), code: "UnsupportedMediaType" },
  { answer: refusal(422, "Invalid"), code: "Invalid" },
  { answer: refusal(500, "InternalError"), code: "UnknownOutcome" },
  { answer: refusal(500, "ServerTimeout"), code: "DeadlineExceeded" },
  { answer: refusal(504, "Timeout"), code: "DeadlineExceeded" },
  { answer: refusal(503, "ServiceUnavailable"), code: "Unavailable" },
  {
    answer: { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "404 page not found\n" },
    code: "NotFound",
  },
  { answer: { status: 502, headers: { "content-type": "text/html" }, body: "<html>" }, code: "UnknownOutcome" },
  { answer: { status: 408, headers: { "content-type": "text/html" }, body: "<html>" }, code: "DeadlineExceeded" },
  { answer: { status: 301, headers: {}, body: "" }, code: "UnknownOutcome" },
  { answer: { status: 200, headers: {}, body: "<html>" }, code: "UnknownOutcome" },
  { answer: { status: 200, headers: {}, body: "[]" }, code: "UnknownOutcome" },
  { answer: ok({ ...configMap("a"), kind: "Secret" }), code: "UnknownOutcome" },
];
for (const { answer, code } of refusals)
  test(`HTTP ${answer.status} with ${String(answer.body).slice(0, 90) || "no body"} is ${code}`, async () => {
    const { client, asked } = scripted([answer]);
    await assert.rejects(
      client.create("ConfigMap", configMap("a") as never),
      (reason) => isFault(reason) && reason.code === code,
    );
    assert.equal(asked.length, 1);
  });

test("of an answer that is no Status one short line of plain text is quoted, and of a page nothing", async () => {
  const said = async (type: string, body: string): Promise<string> => {
    const { client } = scripted([{ status: 400, headers: { "content-type": type }, body }]);
    return client.get(ref).then(
      () => "no fault",
      (reason: Error) => reason.message,
    );
  };
  assert.match(await said("text/plain; charset=utf-8", `${"x".repeat(300)}\nsecond line`), /HTTP 400: x{200}$/);
  assert.match(await said("text/html", "<html>cookie=secret</html>"), /HTTP 400$/);
});

/** Of the route, or of a proxy whose API server is away: neither says anything about the object. */
const pages: readonly HttpResponse[] = [
  { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "404 page not found\n" },
  { status: 404, headers: { "content-type": "text/html" }, body: "<html>default backend - 404</html>" },
  {
    status: 404,
    headers: { "content-type": "application/json" },
    body: '{"message":"no Route matched with those values"}',
  },
  { status: 404, headers: {}, body: "" },
];
for (const page of pages)
  test(`a 404 of ${page.body || "no words"} does not say that an object is gone, a Status does`, async () => {
    const asks = (answer: HttpResponse) => {
      const { client } = scripted([answer]);
      return [
        () => client.get(ref),
        () => client.replace("ConfigMap", configMap("a") as never),
        () => client.patch(ref, { type: "merge", body: {} }),
        () => client.delete(ref),
      ];
    };
    for (const asked of asks(page)) await assert.rejects(asked, (reason) => isFault(reason, "UnknownOutcome"));
    for (const asked of asks(refusal(404, "NotFound")))
      await assert.rejects(asked, (reason) => isFault(reason, "NotFound"));
  });

test("a refusal keeps the server's words, its details and when to come back", async () => {
  const details = { name: "a", kind: "configmaps", retryAfterSeconds: 3 };
  const { client } = scripted([refusal(500, "ServerTimeout", { details })]);
  await assert.rejects(
    client.get(ref),
    (reason) =>
      isFault(reason) &&
      reason.message === "it is ServerTimeout" &&
      reason.retryAfterMs === 3_000 &&
      reason.details !== undefined,
  );
});

test("what could not be read is not quoted, as it may be a secret", async () => {
  const { client } = scripted([{ status: 200, headers: {}, body: '{"data":{"password":"aHVudGVyMg==" oops' }]);
  await assert.rejects(
    client.get({ ...ref, kind: "Secret" }),
    (reason) => isFault(reason, "UnknownOutcome") && !/aHVu/.test(String(reason) + String(reason.cause)),
  );
});

test("a busy server is asked again when it says so, for a bounded number of times", async () => {
  const busy = refusal(429, "TooManyRequests", {}, { "retry-after": "2" });
  const patient = scripted([busy, refusal(503, "ServiceUnavailable", {}, { "retry-after": "3" }), ok(configMap("a"))]);
  assert.equal(
    (await patient.world.run(patient.client.create("ConfigMap", configMap("a") as never))).metadata.name,
    "a",
  );
  assert.equal(patient.world.elapsed(), 5_000);

  const hopeless = scripted([busy]);
  await assert.rejects(
    hopeless.world.run(hopeless.client.get(ref)),
    (reason) => isFault(reason, "ResourceExhausted") && reason.retryAfterMs === 2_000,
  );
  assert.equal(hopeless.asked.length, 5);
});

test("who was stopped while waiting to be asked again decides anew instead of sending what it had decided", async () => {
  const { client, asked, world } = scripted([
    refusal(503, "ServiceUnavailable", {}, { "retry-after": "1" }),
    ok(configMap("a")),
  ]);
  const created = assert.rejects(client.create("ConfigMap", configMap("a") as never), { code: "Unavailable" });
  await world.advance(500);
  world.freeze(60_000);
  await world.run(created);
  assert.equal(asked.length, 1);
});

test("a server that wants an hour is left to the caller's patience", async () => {
  const { client, asked } = scripted([refusal(503, "ServiceUnavailable", {}, { "retry-after": "3600" })]);
  await assert.rejects(
    client.get(ref),
    (reason) => isFault(reason, "Unavailable") && reason.retryAfterMs === 3_600_000,
  );
  assert.equal(asked.length, 1);
});

test("Retry-After may be a date", async () => {
  const world = createVirtualWorld();
  const date = new Date(world.now() + 4_000).toUTCString();
  const { client } = scripted([refusal(500, "InternalError", {}, { "retry-after": date })], { world });
  await assert.rejects(
    client.get(ref),
    (reason) => isFault(reason) && Math.abs((reason.retryAfterMs ?? 0) - 4_000) < 1_000,
  );
});

const never = (): Promise<HttpResponse> => new Promise(() => undefined);

test("no answer is a deadline, and the handler is told to stop", async () => {
  const { client, asked, world } = scripted([never]);
  await assert.rejects(
    world.run(client.get(ref)),
    (reason) =>
      isFault(reason, "DeadlineExceeded") && reason.message.includes("GET /api/v1/namespaces/team/configmaps/a"),
  );
  assert.equal(world.elapsed(), 30_000);
  assert.equal(asked[0]?.signal?.aborted, true);
});

test("the caller's signal ends a call, a wait for a busy server and a wait for the rate limit", async () => {
  for (const [answer, rateLimit] of [
    [never, undefined],
    [refusal(429, "TooManyRequests", {}, { "retry-after": "20" }), undefined],
    [ok(configMap("a")), { qps: 0.001, burst: 0 }],
  ] as const) {
    const { client, world } = scripted([answer], { rateLimit });
    const stop = new AbortController();
    const call = assert.rejects(client.get(ref, { signal: stop.signal }), (reason) => isFault(reason, "Cancelled"));
    await world.advance(1_000);
    stop.abort();
    await call;
    assert.equal(world.sleepers(), 0);
  }
});

test("the rate limit does not hold up a lease, which would be lost meanwhile", async () => {
  const lease = { kind: "Lease", namespace: "default", name: "leader" } as const;
  const { client, world } = scripted([ok({ ...configMap("leader"), kind: "Lease" })], {
    rateLimit: { qps: 0.001, burst: 0 },
  });
  await world.run(client.get(lease));
  assert.equal(world.elapsed(), 0);
});

test("every attempt is measured, also the one without an answer", async () => {
  const measured: string[] = [];
  const answers = [refusal(429, "TooManyRequests"), ok(configMap("a")), () => Promise.reject(new Error("cut"))];
  const { client, world } = scripted(answers, {
    measure: ({ method, code }) => void measured.push(`${method} ${code}`),
  });
  await world.run(client.get(ref));
  await assert.rejects(client.get(ref));
  assert.deepEqual(measured, ["GET 429", "GET 200", "GET <error>"]);
});
