import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import { connect } from "node:net";
import { after, test } from "node:test";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { Fault } from "../base/fault.ts";
import type { Handler } from "../base/http.ts";
import { silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import type { ServeOptions, Server } from "./serve.ts";
import { overHttp, overHttps } from "./serve.ts";

const agent = new Agent({ keepAlive: true });
after(() => agent.destroy());

const options: ServeOptions = { address: { host: "127.0.0.1", port: 0 }, log: silent, world: realWorld };

async function served(
  handler: Handler,
  use: (server: Server) => Promise<void>,
  more: Partial<ServeOptions> = {},
): Promise<void> {
  const server = await overHttp(handler, { ...options, ...more });
  try {
    await use(server);
  } finally {
    await server.close(0);
  }
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function ask(
  server: Server,
  path: string,
  { method = "GET", body = "" }: { method?: string; body?: string } = {},
): Promise<Answer> {
  const call = httpRequest(`${server.url}${path}`, { method, agent });
  call.end(body);
  return answerOf(call);
}

async function answerOf(call: ReturnType<typeof httpRequest>): Promise<Answer> {
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, body: text };
}

test("a handler gets method, path, lower-case headers and the whole body, and its response is sent", () =>
  served(
    async ({ method, path, headers, body }) => ({
      status: 201,
      headers: { "content-type": "text/plain", "x-got": headers.host ?? "" },
      body: `${method} ${path} ${String(body)}`,
    }),
    async (server) => {
      const large = "é".repeat(200_000);
      const answer = await ask(server, "/a?b=%20c", { method: "POST", body: large });
      assert.equal(answer.status, 201);
      assert.equal(answer.headers["content-length"], String(Buffer.byteLength(answer.body)));
      assert.equal(answer.body, `POST /a?b=%20c ${large}`);
    },
  ));

test("long headers, for example of tokens with many groups, are accepted", () =>
  served(
    async ({ headers }) => ({ status: 200, headers: {}, body: String(headers.authorization?.length) }),
    async (server) => {
      const call = httpRequest(server.url, { agent, headers: { authorization: "x".repeat(40_000) } });
      call.end();
      assert.equal((await answerOf(call)).body, "40000");
    },
  ));

test("connections are kept alive between requests", () =>
  served(
    async () => ({ status: 200, headers: {}, body: "ok" }),
    async (server) => {
      const sockets = new Set<unknown>();
      for (let count = 0; count < 3; count++) {
        const call = httpRequest(server.url, { agent }).on("socket", (socket) => sockets.add(socket));
        call.end();
        await answerOf(call);
      }
      assert.equal(sockets.size, 1);
    },
  ));

test("a body over the limit is rejected with 413 before the handler runs", () => {
  let seen = 0;
  const count: Handler = async () => {
    seen += 1;
    return { status: 200, headers: {}, body: "" };
  };
  return served(
    count,
    async (server) => {
      const answer = await ask(server, "/", { method: "PUT", body: "x".repeat(1_001) });
      assert.equal(answer.status, 413);
      assert.equal(JSON.parse(answer.body).message, "the body is larger than 1000 bytes");
      assert.equal(seen, 0);
      assert.equal((await ask(server, "/", { method: "PUT", body: "x".repeat(1_000) })).status, 200);
    },
    { requestBytesMax: 1_000 },
  );
});

test("a fault becomes its HTTP status, and an exception becomes 500 and is logged", () => {
  const logged: string[] = [];
  const log = { ...silent, error: (message: string) => void logged.push(message) };
  const handler: Handler = async ({ path }) => {
    if (path === "/missing") throw new Fault("NotFound", "no such thing");
    throw new TypeError("oops");
  };
  return served(
    handler,
    async (server) => {
      const missing = await ask(server, "/missing");
      assert.equal(missing.status, 404);
      assert.deepEqual(JSON.parse(missing.body), {
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        message: "no such thing",
        reason: "NotFound",
        code: 404,
      });
      assert.equal((await ask(server, "/mistake")).status, 500);
      assert.deepEqual(logged, ["request failed"]);
    },
    { log },
  );
});

test("HEAD gets the headers without the body", () =>
  served(
    async () => ({ status: 200, headers: {}, body: "four" }),
    async (server) => {
      const answer = await ask(server, "/", { method: "HEAD" });
      assert.deepEqual([answer.headers["content-length"], answer.body], ["4", ""]);
    },
  ));

test("a stream's headers arrive before its first chunk, and its chunks without buffering", async () => {
  const gate = Promise.withResolvers<void>();
  async function* chunks() {
    await gate.promise;
    yield "one\n";
    yield Buffer.from("two\n");
  }
  await served(
    async () => ({ status: 200, headers: { "content-type": "application/json" }, body: chunks() }),
    async (server) => {
      const call = httpRequest(server.url, { agent });
      call.end();
      const [answer] = (await once(call, "response")) as [IncomingMessage];
      gate.resolve();
      let text = "";
      for await (const chunk of answer.setEncoding("utf8")) text += chunk;
      assert.equal(text, "one\ntwo\n");
    },
  );
});

test("a stream is read only as fast as its client reads", async () => {
  let made = 0;
  const chunk = "x".repeat(64 * 1024);
  async function* endless() {
    for (;;) {
      made += 1;
      yield chunk;
    }
  }
  await served(
    async () => ({ status: 200, headers: {}, body: endless() }),
    async (server) => {
      const socket = connect(server.address.port, "127.0.0.1");
      socket.pause();
      socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
      let before = -1;
      while (made === 0 || made !== before) {
        before = made;
        await realWorld.sleep(30);
      }
      assert.ok(made < 500, `${made} chunks were made for a client that reads none`);
      socket.destroy();
    },
  );
});

/** A silent stream that reports when it is closed. */
function silentStream() {
  const closed = Promise.withResolvers<void>();
  const stream: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => undefined),
      return: async () => {
        closed.resolve();
        return { done: true, value: undefined };
      },
    }),
  };
  return { stream, closed: closed.promise };
}

test("a client disconnect aborts the signal and closes the stream, even a waiting one", async () => {
  const aborted = Promise.withResolvers<unknown>();
  const { stream, closed } = silentStream();
  const handler: Handler = async ({ signal }) => {
    signal?.addEventListener("abort", () => aborted.resolve(signal.reason));
    return { status: 200, headers: {}, body: stream };
  };
  await served(handler, async (server) => {
    const call = httpRequest(server.url, { agent: false });
    call.end();
    await once(call, "response");
    call.destroy();
    const reason = await aborted.promise;
    assert.ok(reason instanceof Fault && reason.code === "Cancelled");
    await closed;
  });
});

test("a stream that starts after its client disconnected is closed", async () => {
  const asked = Promise.withResolvers<void>();
  const { stream, closed } = silentStream();
  const handler: Handler = async ({ signal }) => {
    asked.resolve();
    if (signal !== undefined) await once(signal, "abort");
    return { status: 200, headers: {}, body: stream };
  };
  await served(handler, async (server) => {
    const call = httpRequest(server.url, { agent: false }).on("error", () => undefined);
    call.end();
    await asked.promise;
    call.destroy();
    await closed;
  });
});

test("an answered request does not abort its signal", async () => {
  let signal: AbortSignal | undefined;
  const handler: Handler = async (request) => {
    signal = request.signal;
    return { status: 200, headers: {}, body: "ok" };
  };
  await served(handler, async (server) => void (await ask(server, "/")));
  assert.equal(signal?.aborted, false);
});

test("close finishes running requests, ends streams and accepts no new requests", async () => {
  const gate = Promise.withResolvers<void>();
  const begun = { watch: Promise.withResolvers<void>(), slow: Promise.withResolvers<void>() };
  async function* untilAborted(signal: AbortSignal | undefined) {
    begun.watch.resolve();
    yield "begun\n";
    if (signal !== undefined) await once(signal, "abort");
  }
  const server = await overHttp(async ({ path, signal }) => {
    if (path === "/watch") return { status: 200, headers: {}, body: untilAborted(signal) };
    begun.slow.resolve();
    await gate.promise;
    return { status: 200, headers: {}, body: "finished" };
  }, options);
  const watch = ask(server, "/watch");
  const slow = ask(server, "/slow");
  await Promise.all([begun.watch.promise, begun.slow.promise]);
  const closing = server.close();
  assert.equal((await watch).body, "begun\n");
  gate.resolve();
  const answer = await slow;
  assert.deepEqual([answer.body, answer.headers.connection], ["finished", "close"]);
  await closing;
  const late = httpRequest(server.url, { agent: false });
  late.end();
  await assert.rejects(answerOf(late), { code: "ECONNREFUSED" });
});

test("a request that does not end is disconnected after the grace period", async () => {
  const begun = Promise.withResolvers<void>();
  const server = await overHttp(() => {
    begun.resolve();
    return new Promise(() => undefined);
  }, options);
  const stuck = assert.rejects(ask(server, "/"), { code: "ECONNRESET" });
  await begun.promise;
  await server.close(10);
  await stuck;
});

test("an address in use is one error line", async () => {
  const first = await overHttp(async () => ({ status: 200, headers: {}, body: "" }), options);
  const { port } = first.address;
  await assert.rejects(
    overHttp(async () => ({ status: 200, headers: {}, body: "" }), { ...options, address: first.address }),
    {
      message: `cannot listen on 127.0.0.1:${port}: another program listens there; choose another port or stop it`,
    },
  );
  await first.close(0);
});

test("a renewed TLS certificate serves new connections, and open connections continue", async () => {
  const authority = createAuthority("test");
  const identity = (name: string) => {
    const { certificate: cert, key } = authority.issue({ commonName: name, dnsNames: [name] });
    return { cert, key };
  };
  const [old, renewed] = [identity("old.test"), identity("new.test")];
  const server = await overHttps(async () => ({ status: 200, headers: {}, body: "ok" }), old, options);
  const keep = new TlsAgent({ keepAlive: true, maxSockets: 1 });
  const bodyFrom = async (servername: string, through: TlsAgent | false): Promise<string> => {
    const call = httpsRequest(server.url, { ca: authority.certificate, servername, agent: through });
    call.end();
    return (await answerOf(call)).body;
  };
  try {
    assert.equal(await bodyFrom("old.test", keep), "ok");
    server.renew(renewed);
    assert.equal(await bodyFrom("old.test", keep), "ok");
    assert.equal(await bodyFrom("new.test", false), "ok");
    await assert.rejects(bodyFrom("old.test", false));
  } finally {
    keep.destroy();
    await server.close(0);
  }
});

test("with a client CA only clients with its certificates are served, also after a certificate renewal", async () => {
  const [authority, people, strangers] = ["server", "people", "strangers"].map((name) => createAuthority(name));
  assert.ok(authority !== undefined && people !== undefined && strangers !== undefined);
  const identity = () => {
    const { certificate: cert, key } = authority.issue({ commonName: "s", ipv4: ["127.0.0.1"] });
    return { cert, key };
  };
  let seen = 0;
  const handler: Handler = async () => {
    seen += 1;
    return { status: 200, headers: {}, body: "ok" };
  };
  const server = await overHttps(handler, { ...identity(), clientCa: people.certificate }, options);
  const bodyFor = async (client?: { certificate: string; key: string }): Promise<string> => {
    const call = httpsRequest(server.url, {
      ca: authority.certificate,
      cert: client?.certificate,
      key: client?.key,
      agent: false,
    });
    call.end();
    return (await answerOf(call)).body;
  };
  try {
    for (const renew of [() => undefined, () => server.renew(identity())]) {
      renew();
      seen = 0;
      assert.equal(await bodyFor(people.issue({ commonName: "me" })), "ok");
      await assert.rejects(bodyFor(strangers.issue({ commonName: "me" })));
      await assert.rejects(bodyFor(people.issue({ commonName: "me", days: -1 })));
      await assert.rejects(bodyFor());
      assert.equal(seen, 1);
    }
    server.renew({ ...identity(), clientCa: strangers.certificate });
    assert.equal(await bodyFor(strangers.issue({ commonName: "me" })), "ok");
    await assert.rejects(bodyFor(people.issue({ commonName: "me" })));
  } finally {
    await server.close(0);
  }
});

test("a connection of a client whose authority was replaced gets one more answer, and others go on", async () => {
  const [authority, people, others] = ["server", "people", "others"].map((name) => createAuthority(name));
  assert.ok(authority !== undefined && people !== undefined && others !== undefined);
  const { certificate: cert, key } = authority.issue({ commonName: "s", ipv4: ["127.0.0.1"] });
  const identity = { cert, key, clientCa: people.certificate };
  const server = await overHttps(async () => ({ status: 200, headers: {}, body: "ok" }), identity, options);
  const { certificate, key: clientKey } = people.issue({ commonName: "me" });
  const keep = new TlsAgent({ keepAlive: true, ca: authority.certificate, cert: certificate, key: clientKey });
  const connection = async (): Promise<string | undefined> => {
    const call = httpsRequest(server.url, { agent: keep });
    call.end();
    return (await answerOf(call)).headers.connection;
  };
  try {
    assert.equal(await connection(), "keep-alive");
    server.renew({ ...identity });
    assert.equal(await connection(), "keep-alive");
    server.renew({ ...identity, clientCa: others.certificate });
    assert.equal(await connection(), "close");
    await assert.rejects(connection());
  } finally {
    keep.destroy();
    await server.close(0);
  }
});

for (const host of ["0.0.0.0", "::", undefined])
  test(`a server on ${host ?? "every address"} reports an address that this machine can reach`, async () => {
    const server = await overHttp(async () => ({ status: 200, headers: {}, body: "ok" }), {
      ...options,
      address: { host, port: 0 },
    });
    try {
      assert.equal(server.url, `http://127.0.0.1:${server.address.port}`);
      assert.equal((await ask(server, "/")).body, "ok");
    } finally {
      await server.close(0);
    }
  });

/** A connection on which /first was asked for and answered. */
async function afterFirst({ address }: Server) {
  const socket = connect(address.port, "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    received += text;
  });
  const send = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  send("/first");
  while (!received.endsWith("/first")) await once(socket, "data");
  return { socket, send, received: () => received };
}

test("a server that closes answers a request that has arrived on an idle connection and was not read yet", async () => {
  const server = await overHttp(async ({ path }) => ({ status: 200, headers: {}, body: path }), options);
  const { socket, send, received } = await afterFirst(server);
  send("/second");
  const closing = server.close();
  await once(socket, "end");
  assert.match(received(), /connection: close[\s\S]*\/second$/i);
  socket.destroy();
  await closing;
});

test("a server that begins to drain keeps a connection whose last response promised to keep it", async () => {
  const drainSoon = async (): Promise<void> => {
    // The response is written by then, and has not been sent.
    for (let turn = 0; turn < 20; turn++) await undefined;
    server.drain();
  };
  const server = await overHttp(async ({ path }) => {
    if (path === "/first") void drainSoon();
    return { status: 200, headers: {}, body: path };
  }, options);
  const { socket, send, received } = await afterFirst(server);
  assert.match(received(), /connection: keep-alive/i);
  send("/second");
  await once(socket, "end");
  assert.match(received(), /connection: close[\s\S]*\/second$/i);
  socket.destroy();
  await server.close();
});

test("a draining server keeps answering, also on new connections, and closes each connection after its response", () =>
  served(
    async () => ({ status: 200, headers: {}, body: "ok" }),
    async (server) => {
      assert.equal((await ask(server, "/")).headers.connection, "keep-alive");
      server.drain();
      for (let count = 0; count < 2; count++) {
        const answer = await ask(server, "/");
        assert.deepEqual([answer.status, answer.headers.connection], [200, "close"]);
      }
    },
  ));
