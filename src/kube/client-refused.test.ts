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

test("an error quotes one line of a plain text response, and nothing of an HTML page", async () => {
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

/** The route answers like this, or a proxy whose API server is away: neither says anything about the object. */
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
  test(`a 404 with ${page.body || "no body"} is not NotFound; only a Status is`, async () => {
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

test("a rejection keeps the server's message, details and Retry-After", async () => {
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

test("an unreadable body is not quoted, because it may be a secret", async () => {
  const { client } = scripted([{ status: 200, headers: {}, body: '{"data":{"password":"aHVudGVyMg==" oops' }]);
  await assert.rejects(
    client.get({ ...ref, kind: "Secret" }),
    (reason) => isFault(reason, "UnknownOutcome") && !/aHVu/.test(String(reason) + String(reason.cause)),
  );
});

test("a request is repeated after Retry-After, a limited number of times", async () => {
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

test("a process that was stopped during Retry-After does not repeat the old request", async () => {
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

test("a Retry-After of an hour is returned to the caller", async () => {
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

test("a request without a response ends at its deadline and aborts the handler", async () => {
  const { client, asked, world } = scripted([never]);
  await assert.rejects(
    world.run(client.get(ref)),
    (reason) =>
      isFault(reason, "DeadlineExceeded") && reason.message.includes("GET /api/v1/namespaces/team/configmaps/a"),
  );
  assert.equal(world.elapsed(), 30_000);
  assert.equal(asked[0]?.signal?.aborted, true);
});

test("the caller's signal ends a call, a Retry-After wait and a rate limit wait", async () => {
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

test("the rate limit does not delay urgent requests", async () => {
  const lease = { kind: "Lease", namespace: "default", name: "leader" } as const;
  const { client, world } = scripted([ok({ ...configMap("leader"), kind: "Lease" })], {
    rateLimit: { qps: 0.001, burst: 0 },
  });
  await world.run(client.get(lease, { isUrgent: true }));
  assert.equal(world.elapsed(), 0);
});

test("every attempt is measured, also one without a response", async () => {
  const measured: string[] = [];
  const answers = [refusal(429, "TooManyRequests"), ok(configMap("a")), () => Promise.reject(new Error("cut"))];
  const { client, world } = scripted(answers, {
    measure: ({ method, code }) => void measured.push(`${method} ${code}`),
  });
  await world.run(client.get(ref));
  await assert.rejects(client.get(ref));
  assert.deepEqual(measured, ["GET 429", "GET 200", "GET <error>"]);
});
