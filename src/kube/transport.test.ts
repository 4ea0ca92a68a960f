import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { between, echo, fixedCredentials, targetAt, tls } from "../../test/http-server.ts";
import { Fault, isFault } from "../base/fault.ts";
import { readAll } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { Outgoing } from "./call.ts";
import { createTransport } from "./transport.ts";

test("a request has the method, the path under the server's prefix, headers, credentials and body", async () => {
  await between(
    echo,
    async (_send, { port }) => {
      const { handler, close } = createTransport(
        targetAt(`https://localhost:${port}/clusters/a/`, {
          credentials: fixedCredentials({ headers: { authorization: "Bearer abc", "impersonate-group": ["a", "b"] } }),
        }),
      );
      const response = await handler({
        method: "PATCH",
        path: "/api?x=1",
        headers: { "content-type": "t" },
        body: "{ü}",
      });
      const seen = JSON.parse(await readAll(response.body));
      close();
      assert.deepEqual([seen.method, seen.url, seen.body], ["PATCH", "/clusters/a/api?x=1", "{ü}"]);
      assert.equal(seen.headers.authorization, "Bearer abc");
      assert.equal(seen.headers["impersonate-group"], "a, b");
      assert.equal(seen.headers["content-length"], "4");
    },
    { tls },
  );
});

test("a request that the guard refuses when its connection is ready is not sent", async () => {
  for (const options of [{}, { tls }]) {
    let leads = true;
    const refusal = ({ method }: Outgoing) =>
      method === "GET" || leads ? undefined : new Fault("Aborted", "no longer the leader");
    let seen = 0;
    const listener: RequestListener = (_, response) => {
      seen += 1;
      response.end();
    };
    await between(
      listener,
      async (send) => {
        const connecting = send({ method: "POST", body: "{}" });
        leads = false; // While the connection is being made.
        await assert.rejects(connecting, (reason) => isFault(reason, "Aborted") && /no longer/.test(reason.message));
        assert.equal(seen, 0);
        await send();
        await assert.rejects(send({ method: "POST", body: "{}" }), (reason) => isFault(reason, "Aborted"));
        leads = true;
        await send({ method: "POST", body: "{}" });
        assert.equal(seen, 2, "the read, and the write of a leader");
      },
      { ...options, transport: { refusal } },
    );
  }
});

test("requests share a connection that watches do not occupy", async () => {
  const listener: RequestListener = (request, response) => {
    if (request.url === "/watch") response.write("{}\n");
    else response.end("ok");
  };
  await between(
    listener,
    async (send, served) => {
      for (let requests = 0; requests < 5; requests++) await send();
      assert.equal(served.accepted, 1);
      const { handler, close } = createTransport(targetAt(`https://127.0.0.1:${served.port}`));
      const stops = Array.from({ length: 40 }, () => new AbortController());
      for (const { signal } of stops)
        await handler({ method: "GET", path: "/watch", headers: {}, stream: true, signal } as Outgoing);
      assert.equal((await handler({ method: "GET", path: "/x", headers: {} })).body, "ok");
      for (const stop of stops) stop.abort();
      close();
    },
    { tls },
  );
});

test("lease renewals do not wait when all connections are busy", async () => {
  const held: (() => void)[] = [];
  const listener: RequestListener = (request, response) => {
    if (request.url?.startsWith("/apis/coordination.k8s.io/")) response.end("renewed");
    else held.push(() => response.end("ok"));
  };
  await between(listener, async (send) => {
    const waiting = Array.from({ length: 40 }, () => send());
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader";
    assert.equal((await send({ method: "PUT", path, body: "{}", isUrgent: true })).text, "renewed");
    const release = setInterval(() => {
      for (const answer of held.splice(0)) answer();
    }, 1);
    await Promise.all(waiting);
    clearInterval(release);
  });
});

test("a request is waiting until it has a connection, and sent with its first byte", async () => {
  const held: (() => void)[] = [];
  await between(
    (_request, response) => void held.push(() => response.end("ok")),
    async (send) => {
      const busy = Array.from({ length: limits.socketsPerHostMax }, () => send());
      while (held.length < limits.socketsPerHostMax) await new Promise((resolve) => setImmediate(resolve));
      const reported: string[] = [];
      const late = send({ onProgress: (progress) => void reported.push(`${progress} ${held.length}`) });
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(new Set(reported).size, 1);
      assert.equal(reported[0], `waiting ${limits.socketsPerHostMax}`);
      held.shift()?.();
      while (held.length < limits.socketsPerHostMax) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(reported.at(-1), `sent ${limits.socketsPerHostMax - 1}`);
      for (const answer of held) answer();
      await Promise.all([...busy, late]);
    },
  );
});

test("a request that is aborted while it waits for a connection is not sent and frees its slot", async () => {
  const held: (() => void)[] = [];
  const seen: (string | undefined)[] = [];
  await between(
    (request, response) => {
      seen.push(request.url);
      held.push(() => response.end("ok"));
    },
    async (send) => {
      const busy = Array.from({ length: limits.socketsPerHostMax }, () => send());
      while (held.length < limits.socketsPerHostMax) await new Promise((resolve) => setImmediate(resolve));
      const stop = new AbortController();
      const given = assert.rejects(send({ path: "/given-up", signal: stop.signal }), (reason) =>
        isFault(reason, "Cancelled"),
      );
      await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await given;
      const release = setInterval(() => {
        for (const answer of held.splice(0)) answer();
      }, 1);
      await Promise.all([...busy, send()]);
      clearInterval(release);
      assert.equal(seen.includes("/given-up"), false);
    },
  );
});

test("no more connections are opened than the limit, and an idle one closes", async () => {
  await between(
    (_request, response) => setImmediate(() => response.end("ok")),
    async (send, served) => {
      served.server.keepAliveTimeout = 0; // Or the server would do what the client should.
      await Promise.all(Array.from({ length: 100 }, () => send()));
      assert.ok(served.accepted <= 32, String(served.accepted));
      assert.ok(served.accepted > 1);
      await Promise.all([...served.sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
      assert.equal(served.sockets.size, 0);
    },
    { transport: { socketIdleMsMax: 20 } },
  );
});

test("a stream may be silent for longer than an idle connection may live", async () => {
  await between(
    (_request, response) => {
      response.write("first ");
      setTimeout(() => response.end("last"), 60);
    },
    async (send) => assert.equal((await send({ stream: true })).text, "first last"),
    { transport: { socketIdleMsMax: 10 } },
  );
});

test("a gzip response is decoded, and a false gzip header is a fault", async () => {
  const text = JSON.stringify({ items: Array.from({ length: 1_000 }, () => "ü") });
  await between(
    (request, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(request.url === "/lie" ? "no gzip" : gzipSync(text));
    },
    async (send) => {
      assert.equal((await send()).text, text);
      assert.equal((await send({ stream: true })).text, text);
      await assert.rejects(
        send({ path: "/lie" }),
        (reason) => isFault(reason, "UnknownOutcome") && /says it is gzip/.test(reason.message),
      );
    },
  );
});

test("a response over the size limit fails, with and without gzip", async () => {
  await between(
    (request, response) => {
      if (request.url === "/zip") response.setHeader("content-encoding", "gzip");
      response.end(request.url === "/zip" ? gzipSync("x".repeat(2_000)) : "x".repeat(2_000));
    },
    async (send) => {
      for (const path of ["/plain", "/zip"])
        await assert.rejects(
          send({ path }),
          (reason) => isFault(reason, "UnknownOutcome") && /larger than 1000 bytes/.test(reason.message),
        );
    },
    { transport: { responseBytesMax: 1_000 } },
  );
});

/** Answers the first request, then closes the connection as soon as the next one has been read: the client meets a dead socket. */
