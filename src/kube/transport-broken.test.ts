/** Broken connections, truncated responses and aborted requests. */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { between, serve, targetAt, tls } from "../../test/http-server.ts";
import { Fault, isFault } from "../base/fault.ts";
import { readAll } from "../base/http.ts";
import type { Outgoing } from "./call.ts";
import { createTransport } from "./transport.ts";
import { mayReplay } from "./transport-send.ts";

function dyingListener(): { listener: RequestListener; seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    listener: (request, response) => {
      seen.push(`${request.method}`);
      if (seen.length === 2) request.socket.destroy();
      else response.end("ok");
    },
  };
}
const replays: readonly { request: Partial<Outgoing>; isRepeated: boolean }[] = [
  { request: { method: "GET" }, isRepeated: true },
  { request: { method: "PUT", body: "{}", replayable: true }, isRepeated: true },
  { request: { method: "DELETE", body: "{}", replayable: true }, isRepeated: true },
  { request: { method: "PUT", body: "{}" }, isRepeated: false },
  { request: { method: "PATCH", body: "{}" }, isRepeated: false },
  { request: { method: "POST", body: "{}" }, isRepeated: false },
];
for (const { request, isRepeated } of replays)
  test(`a ${request.method} ${request.replayable ? "that may be replayed " : ""}on a reused connection that died is ${isRepeated ? "sent again" : "not sent again"}`, async () => {
    const { listener, seen } = dyingListener();
    await between(listener, async (send) => {
      await send();
      if (isRepeated) assert.equal((await send(request)).text, "ok");
      else await assert.rejects(send(request), (reason) => isFault(reason, "UnknownOutcome"));
      assert.equal(seen.length, isRepeated ? 3 : 2);
    });
  });

test("a request on a new connection that dies is not repeated", async () => {
  let requests = 0;
  await between(
    (request) => {
      requests += 1;
      request.socket.destroy();
    },
    async (send) => {
      await assert.rejects(
        send(),
        (reason) => isFault(reason, "UnknownOutcome") && /was cut before the answer was complete/.test(reason.message),
      );
      assert.equal(requests, 1);
    },
  );
});

test("a truncated response is an unknown outcome, with a body or as a stream", async () => {
  await between(
    (request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part");
      setImmediate(() => request.socket.destroy());
    },
    async (send) => {
      for (const stream of [false, true])
        await assert.rejects(send({ stream }), (reason) => isFault(reason, "UnknownOutcome"));
    },
  );
});

test("a stream that breaks before it is read reports the error when it is read", async () => {
  await between(
    (request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part");
      if (request.url === "/cut") setImmediate(() => request.socket.destroy());
    },
    async (_send, { port }) => {
      const { handler, close } = createTransport(targetAt(`http://127.0.0.1:${port}`));
      const stop = new AbortController();
      const opened = (path: string) =>
        handler({ method: "GET", path, headers: {}, stream: true, signal: stop.signal } as Outgoing);
      const later = () => new Promise((resolve) => setTimeout(resolve, 20));
      const truncated = await opened("/cut");
      await later();
      await assert.rejects(
        readAll(truncated.body),
        (reason) => isFault(reason, "UnknownOutcome") && /ECONNRESET/.test(reason.message),
      );
      const stopped = await opened("/stopped");
      stop.abort(new Fault("DeadlineExceeded", "late"));
      await later();
      await assert.rejects(readAll(stopped.body), (reason) => isFault(reason, "DeadlineExceeded"));
      close();
    },
  );
});

test("when one of several idle connections has died, the second attempt gets a new one", async () => {
  const asked = new WeakMap<object, number>();
  await between(
    ({ socket }, response) => {
      const times = (asked.get(socket) ?? 0) + 1;
      asked.set(socket, times);
      if (times === 1) setTimeout(() => response.end("ok"), 20);
      else socket.destroy();
    },
    async (send, served) => {
      await Promise.all([send(), send(), send()]);
      assert.equal(served.accepted, 3);
      assert.equal((await send()).text, "ok");
      assert.equal(served.accepted, 4);
    },
  );
});

test("the signal ends a request and a stream, and closes the connection", async () => {
  for (const stream of [false, true])
    await between(
      (_request, response) => {
        response.write("x");
      },
      async (send, served) => {
        const stop = new AbortController();
        const sent = assert.rejects(send({ stream, signal: stop.signal }), (reason) =>
          isFault(reason, "DeadlineExceeded"),
        );
        while (served.sockets.size === 0) await new Promise((resolve) => setImmediate(resolve));
        const closed = Promise.all(
          [...served.sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))),
        );
        stop.abort(new Fault("DeadlineExceeded", "late"));
        await Promise.all([sent, closed]);
        await assert.rejects(send({ signal: stop.signal }), (reason) => isFault(reason, "DeadlineExceeded"));
      },
    );
});

test("aborting a stream while the server ends it causes no unhandled error", async () => {
  const served = await serve((_request, response) => void response.end(`${"x".repeat(100_000)}\n`), tls);
  const { handler, close } = createTransport(targetAt(`https://127.0.0.1:${served.port}`));
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on("uncaughtException", hear);
  try {
    for (let round = 0; round < 40; round++) {
      const stop = new AbortController();
      const request: Outgoing = { method: "GET", path: "/x", headers: {}, stream: true, signal: stop.signal };
      const { body } = await handler(request);
      let bytes = 0;
      const read = async (): Promise<void> => {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          if (bytes > 100_000 - round) stop.abort();
        }
      };
      await read().catch(() => undefined);
    }
    await new Promise((next) => setImmediate(next));
  } finally {
    process.off("uncaughtException", hear);
    close();
    served.server.closeAllConnections();
    served.server.close();
  }
  assert.deepEqual(unheard, []);
});

test("a request that the server cannot have read is repeated for every method, but only on a reused connection", () => {
  const post: Outgoing = { method: "POST", path: "/x", headers: {} };
  const failed = { kind: "failure", reason: { code: "EPIPE" }, reached: "sent", onReusedSocket: true } as const;
  assert.equal(mayReplay(post, failed), true);
  assert.equal(mayReplay(post, { ...failed, reason: { code: "ECONNRESET" } }), false);
  assert.equal(mayReplay(post, { ...failed, onReusedSocket: false }), false);
  assert.equal(mayReplay({ ...post, signal: AbortSignal.abort() }, failed), false);
});
