import assert from "node:assert/strict";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { Fault, isFault } from "../base/fault.ts";
import { readAll } from "../base/http.ts";
import type { Outgoing } from "./call.ts";
import type { Credential, Target } from "./target.ts";
import { createTransport, type TransportOptions } from "./transport.ts";
import { faultOfFailure } from "./transport-fault.ts";
import { mayReplay } from "./transport-send.ts";

const authority = createAuthority("cluster");
const serving = authority.issue({ commonName: "server", dnsNames: ["localhost", "kube"], ipv4: ["127.0.0.1"] });

interface Served {
  readonly server: Server;
  readonly port: number;
  readonly sockets: Set<Socket>;
  /** Connections accepted so far. */
  accepted: number;
}

async function serve(listener: RequestListener, tls?: object): Promise<Served> {
  const server =
    tls === undefined ? createHttpServer(listener) : (createHttpsServer(tls, listener) as unknown as Server);
  const served: Served = { server, port: 0, sockets: new Set(), accepted: 0 };
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    served.accepted += 1;
    served.sockets.add(socket);
    socket.on("close", () => served.sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return Object.assign(served, { port: (server.address() as AddressInfo).port });
}

const fixedCredentials = (...credentials: readonly Credential[]): Target["credentials"] => {
  let index = 0;
  return {
    current: async () => credentials[index] ?? { headers: {} },
    refused: () => {
      index = Math.min(index + 1, credentials.length - 1);
    },
    origin: "users[0].user.token in config",
  };
};

const targetAt = (server: string, more: Partial<Target> = {}): Target => ({
  server: new URL(server),
  namespace: "default",
  insecure: false,
  authority: async () => authority.certificate,
  credentials: fixedCredentials({ headers: { authorization: "Bearer abc" } }),
  origin: {
    server: "clusters[0].cluster.server in config",
    authority: "clusters[0].cluster.certificate-authority in config",
  },
  ...more,
});

/** A server, a transport to it, and both closed afterwards. */
async function between<T>(
  listener: RequestListener,
  work: (
    send: (request?: Partial<Outgoing>) => Promise<{ status: number; text: string }>,
    served: Served,
  ) => Promise<T>,
  options: { tls?: object; target?: Partial<Target>; transport?: TransportOptions } = {},
): Promise<T> {
  const served = await serve(listener, options.tls);
  const scheme = options.tls === undefined ? "http" : "https";
  const { handler, close } = createTransport(
    targetAt(`${scheme}://127.0.0.1:${served.port}`, options.target),
    options.transport,
  );
  try {
    return await work(async (request) => {
      const response = await handler({ method: "GET", path: "/x", headers: {}, ...request } as Outgoing);
      return { status: response.status, text: await readAll(response.body) };
    }, served);
  } finally {
    close();
    served.server.closeAllConnections();
    served.server.close();
  }
}

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
};

const tls = { cert: serving.certificate, key: serving.key };

test("a request travels with method, path below the server's prefix, headers, identity and body", async () => {
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

test("what must not be sent any more when its connection is there is not sent, and says why", async () => {
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

test("requests share a connection, and watches do not take it from them", async () => {
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

test("a lease is renewed while more requests wait for a connection than there are", async () => {
  const held: (() => void)[] = [];
  const listener: RequestListener = (request, response) => {
    if (request.url?.startsWith("/apis/coordination.k8s.io/")) response.end("renewed");
    else held.push(() => response.end("ok"));
  };
  await between(listener, async (send) => {
    const waiting = Array.from({ length: 40 }, () => send());
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader";
    assert.equal((await send({ method: "PUT", path, body: "{}" })).text, "renewed");
    const release = setInterval(() => {
      for (const answer of held.splice(0)) answer();
    }, 1);
    await Promise.all(waiting);
    clearInterval(release);
  });
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

test("an answer in gzip is decoded, and one that lies about it is a fault", async () => {
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
        (reason) => isFault(reason, "Lost") && /says it is gzip/.test(reason.message),
      );
    },
  );
});

test("an answer over the limit is given up, zipped or not", async () => {
  await between(
    (request, response) => {
      if (request.url === "/zip") response.setHeader("content-encoding", "gzip");
      response.end(request.url === "/zip" ? gzipSync("x".repeat(2_000)) : "x".repeat(2_000));
    },
    async (send) => {
      for (const path of ["/plain", "/zip"])
        await assert.rejects(
          send({ path }),
          (reason) => isFault(reason, "Lost") && /larger than 1000 bytes/.test(reason.message),
        );
    },
    { transport: { responseBytesMax: 1_000 } },
  );
});

/** Answers the first request, then closes the connection as soon as the next one has been read: the client meets a dead socket. */
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
      else await assert.rejects(send(request), (reason) => isFault(reason, "Lost"));
      assert.equal(seen.length, isRepeated ? 3 : 2);
    });
  });

test("a new connection that dies is not tried again", async () => {
  let requests = 0;
  await between(
    (request) => {
      requests += 1;
      request.socket.destroy();
    },
    async (send) => {
      await assert.rejects(
        send(),
        (reason) => isFault(reason, "Lost") && /was cut before the answer was complete/.test(reason.message),
      );
      assert.equal(requests, 1);
    },
  );
});

test("an answer that is cut in the middle is Lost, whole or as a stream", async () => {
  await between(
    (request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part");
      setImmediate(() => request.socket.destroy());
    },
    async (send) => {
      for (const stream of [false, true]) await assert.rejects(send({ stream }), (reason) => isFault(reason, "Lost"));
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

test("a stream given up just as the server ends it leaves no error that nobody hears", async () => {
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

test("a refused token is renewed and the request sent again, once", async () => {
  const tokens: (string | undefined)[] = [];
  const listener: RequestListener = (request, response) => {
    tokens.push(request.headers.authorization);
    response.statusCode = request.headers.authorization === "Bearer new" ? 200 : 401;
    response.end("body");
  };
  const withTokens = (...names: readonly string[]) => ({
    target: {
      credentials: fixedCredentials(...names.map((name) => ({ headers: { authorization: `Bearer ${name}` } }))),
    },
  });
  await between(
    listener,
    async (send) => assert.equal((await send({ method: "POST", body: "{}" })).status, 200),
    withTokens("old", "new"),
  );
  assert.deepEqual(tokens.splice(0), ["Bearer old", "Bearer new"]);

  for (const [names, asked] of [
    [["old"], 1],
    [["old", "older"], 2],
  ] as const) {
    await between(
      listener,
      (send) =>
        assert.rejects(send(), (reason) => {
          assert.ok(isFault(reason, "Unauthenticated"));
          assert.match(
            reason.message,
            /^http:\/\/127\.0\.0\.1:\d+ does not accept the credentials \(users\[0\]\.user\.token in config\): they are wrong or have expired; renew them$/,
          );
          return true;
        }),
      withTokens(...names),
    );
    assert.equal(tokens.splice(0).length, asked);
  }
});

test("a new authority or client certificate is used for the next request", async () => {
  const me = authority.issue({ commonName: "me" });
  const trusted: (string | undefined)[] = [createAuthority("other").certificate, authority.certificate];
  let credential: Credential = { headers: {} };
  await between(
    (request, response) => {
      const shown = request.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
      response.end(shown.getPeerCertificate().subject?.CN ?? "nobody");
    },
    async (send, served) => {
      await assert.rejects(send(), (reason) => isFault(reason, "Unavailable"));
      trusted.shift();
      assert.equal((await send()).text, "nobody");
      credential = { headers: {}, certificate: me.certificate, key: me.key };
      assert.equal((await send()).text, "me");
      assert.equal(served.accepted >= 2, true);
    },
    {
      tls: { ...tls, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
      target: {
        authority: async () => trusted[0],
        credentials: { current: async () => credential, refused: () => undefined, origin: "here" },
      },
    },
  );
});

const expired = authority.issue({ commonName: "old", ipv4: ["127.0.0.1"], days: -1 });
const misnamed = authority.issue({ commonName: "other", dnsNames: ["elsewhere"] });
const distrust: readonly { given: string; tls?: object; target?: Partial<Target>; says: RegExp }[] = [
  {
    given: "an unknown authority",
    tls,
    target: { authority: async () => createAuthority("other").certificate },
    says: /shows a certificate that the authority \(clusters\[0\]\.cluster\.certificate-authority in config\) has not signed; give the authority/,
  },
  {
    given: "an expired certificate",
    tls: { cert: expired.certificate, key: expired.key },
    says: /the certificate of https:\/\/127\.0\.0\.1:\d+ has expired; renew it/,
  },
  {
    given: "a certificate for another name",
    tls: { cert: misnamed.certificate, key: misnamed.key },
    says: /is for other names than 127\.0\.0\.1; correct clusters\[0\]\.cluster\.server in config, or set tls-server-name/,
  },
  {
    given: "another name than tls-server-name",
    tls,
    target: { serverName: "nobody" },
    says: /is for other names than nobody/,
  },
];
for (const { given, tls, target, says } of distrust)
  test(`a server with ${given} is refused in one clear line`, () =>
    between(
      echo,
      (send) =>
        assert.rejects(send(), (reason) => {
          assert.ok(isFault(reason, "Unavailable"), String(reason));
          assert.match(reason.message, says);
          return true;
        }),
      { ...(tls === undefined ? {} : { tls }), ...(target === undefined ? {} : { target }) },
    ));

test("tls-server-name and insecure-skip-tls-verify make exceptions", async () => {
  const misnamedTls = { cert: misnamed.certificate, key: misnamed.key };
  for (const [served, target] of [
    [misnamedTls, { serverName: "elsewhere" }],
    [misnamedTls, { insecure: true, authority: async () => undefined }],
  ] as const)
    await between(echo, async (send) => assert.equal((await send()).status, 200), { tls: served, target });
});

test("a server that is not there or speaks no TLS is one clear line with a remedy", async () => {
  const served = await serve(echo);
  const { port } = served;
  const fails = async (server: string, says: RegExp) => {
    const { handler, close } = createTransport(targetAt(server));
    await assert.rejects(handler({ method: "GET", path: "/x", headers: {} }), (reason) => {
      assert.ok(isFault(reason, "Unavailable"), String(reason));
      assert.match(reason.message, says);
      return true;
    });
    close();
  };
  await fails(
    `https://127.0.0.1:${port}`,
    /does not speak TLS; correct clusters\[0\]\.cluster\.server in config to http/,
  );
  served.server.close();
  await fails(
    `https://127.0.0.1:${port}`,
    /^nothing answers at https:\/\/127\.0\.0\.1:\d+ \(clusters\[0\]\.cluster\.server in config\); start the API server or correct the address$/,
  );
  await fails(`https://localhost:${port}`, /^nothing answers at https:\/\/localhost:\d+ /);
});

const failures: readonly { code: string; reached: "sent" | "unsent"; fault: string; says: RegExp }[] = [
  {
    code: "ENOTFOUND",
    reached: "unsent",
    fault: "Unavailable",
    says: /the host name kube \(clusters.*\) cannot be resolved; correct it/,
  },
  { code: "EAI_AGAIN", reached: "unsent", fault: "Unavailable", says: /cannot be resolved/ },
  { code: "EHOSTUNREACH", reached: "unsent", fault: "Unavailable", says: /cannot be reached; correct the address/ },
  { code: "CERT_NOT_YET_VALID", reached: "unsent", fault: "Unavailable", says: /is not valid yet; set the clock/ },
  {
    code: "EPROTO",
    reached: "unsent",
    fault: "Unavailable",
    says: /refused the TLS handshake \(EPROTO\)/,
  },
  {
    code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    reached: "sent",
    fault: "Unavailable",
    says: /refused the TLS handshake .*users\[0\]/,
  },
  { code: "ECONNRESET", reached: "unsent", fault: "Unavailable", says: /may be starting or stopping/ },
  { code: "ETIMEDOUT", reached: "unsent", fault: "Unavailable", says: /cannot be reached/ },
  { code: "ETIMEDOUT", reached: "sent", fault: "Lost", says: /was cut before the answer was complete/ },
  { code: "ECONNRESET", reached: "sent", fault: "Lost", says: /was cut before the answer was complete/ },
];
for (const { code, reached, fault, says } of failures)
  test(`${code} on a request that was ${reached} is ${fault}`, () => {
    const explained = faultOfFailure(Object.assign(new Error("x"), { code }), targetAt("https://kube"), reached);
    assert.equal(explained.code, fault);
    assert.match(explained.message, says);
  });

test("what the server cannot have read is sent again whatever it is, but only on a reused connection", () => {
  const post: Outgoing = { method: "POST", path: "/x", headers: {} };
  const failed = { kind: "failure", reason: { code: "EPIPE" }, reached: "sent", onReusedSocket: true } as const;
  assert.equal(mayReplay(post, failed), true);
  assert.equal(mayReplay(post, { ...failed, reason: { code: "ECONNRESET" } }), false);
  assert.equal(mayReplay(post, { ...failed, onReusedSocket: false }), false);
  assert.equal(mayReplay({ ...post, signal: AbortSignal.abort() }, failed), false);
});
