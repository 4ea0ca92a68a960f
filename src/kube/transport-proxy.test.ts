/** Through a proxy: it is asked for a connection, and sees nothing of what goes over it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { test } from "node:test";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { between, echo, fixedCredentials, tls } from "../../test/http-server.ts";
import { isFault } from "../base/fault.ts";
import { proxyOf } from "./proxy.ts";
import type { HttpProxy } from "./target.ts";
import { openTunnel } from "./tunnel.ts";

const spot = { file: "config", field: "clusters[0].cluster.proxy-url" };

interface Proxying {
  readonly port: number;
  readonly asked: IncomingMessage[];
  readonly at: (prefix?: string) => HttpProxy;
  close(): void;
}

/** A proxy that answers each request for a connection by `answer`: a status, or undefined for never. */
async function startProxy(
  answer: (request: IncomingMessage) => number | undefined = () => 200,
  tlsOptions?: object,
  opens: Promise<void> = Promise.resolve(),
): Promise<Proxying> {
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = tlsOptions === undefined ? createHttpServer() : createHttpsServer(tlsOptions);
  server.on("connection", (socket: Socket) => void sockets.add(socket));
  server.on("connect", (request: IncomingMessage, front: Socket) => {
    asked.push(request);
    front.on("error", () => undefined);
    const status = answer(request);
    if (status === undefined) return void front.resume().once("end", () => front.destroy());
    if (status !== 200) {
      front.resume().once("end", () => front.end());
      return void front.write(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    }
    const { port } = new URL(`http://${request.url}`);
    const back = connect(Number(port), "127.0.0.1", () =>
      opens.then(() => {
        front.write("HTTP/1.1 200 Connected\r\n\r\n");
        front.pipe(back).pipe(front);
      }),
    );
    sockets.add(back.on("error", () => front.destroy()));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const scheme = tlsOptions === undefined ? "http" : "https";
  return {
    port,
    asked,
    at: (user = "") => proxyOf(`${scheme}://${user}127.0.0.1:${port}`, spot),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

for (const [given, served] of [
  ["TLS", { tls }],
  ["no TLS", {}],
] as const)
  test(`a server with ${given} is reached through a proxy, which sees neither path nor token`, async () => {
    const proxy = await startProxy();
    await between(
      echo,
      async (send, { port, sockets }) => {
        for (let count = 0; count < 3; count++) {
          const { text } = await send({ method: "POST", body: "{}" });
          assert.equal(JSON.parse(text).headers.authorization, "Bearer abc");
        }
        assert.equal((await send({ stream: true })).status, 200);
        assert.equal(sockets.size, 2, "one kept connection for requests, one for streams");
        assert.deepEqual(
          proxy.asked.map(({ url, headers }) => [url, headers.host, headers.authorization]),
          Array(2).fill([`127.0.0.1:${port}`, `127.0.0.1:${port}`, undefined]),
        );
      },
      { ...served, target: { proxy: proxy.at() } },
    );
    proxy.close();
  });

test("the server's certificate is verified through a proxy before credentials are sent", async () => {
  const proxy = await startProxy();
  let seen = 0;
  await between(
    (_request, response) => {
      seen += 1;
      response.end();
    },
    (send) =>
      assert.rejects(send(), (reason) => isFault(reason, "Unavailable") && /has not signed/.test(reason.message)),
    { tls, target: { proxy: proxy.at(), authority: async () => createAuthority("other").certificate } },
  );
  assert.equal(seen, 0);
  proxy.close();
});

test("the client certificate is sent to the server through the proxy", async () => {
  const proxy = await startProxy();
  const authority = createAuthority("people");
  const me = authority.issue({ commonName: "me" });
  await between(
    (request, response) => {
      const shown = request.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
      response.end(shown.getPeerCertificate().subject?.CN ?? "nobody");
    },
    async (send) => assert.equal((await send()).text, "me"),
    {
      tls: { ...tls, ca: authority.certificate, requestCert: true },
      target: {
        proxy: proxy.at(),
        credentials: fixedCredentials({ headers: {}, certificate: me.certificate, key: me.key }),
      },
    },
  );
  proxy.close();
});

test("the proxy gets the user and password of its URL", async () => {
  const proxy = await startProxy(({ headers }) => (headers["proxy-authorization"] === undefined ? 407 : 200));
  const target = { proxy: proxy.at("me:p%40ss@") };
  await between(echo, async (send) => assert.equal((await send()).status, 200), { tls, target });
  const [, pair = ""] = /^Basic (.*)$/.exec(proxy.asked[0]?.headers["proxy-authorization"] ?? "") ?? [];
  assert.equal(Buffer.from(pair, "base64").toString(), "me:p@ss");
  proxy.close();
});

const refusals = [
  [
    "wants to know who asks",
    407,
    "",
    /the proxy 127\.0\.0\.1:\d+ \(clusters\[0\]\.cluster\.proxy-url in config\) wants a user and a password; correct it, or name none$/,
  ],
  ["does not know who asks", 407, "me:s3cret@", /does not accept its user and password/],
  ["says less than yes", 202, "", /does not connect to 127\.0\.0\.1:\d+ \(HTTP status 202\)/],
  ["does not want to connect", 403, "", /does not connect to 127\.0\.0\.1:\d+ \(HTTP status 403\)/],
] as const;
for (const [given, status, user, says] of refusals)
  test(`a proxy that ${given} is one error line without the password, and nothing was sent`, async () => {
    const proxy = await startProxy(() => status);
    await between(
      echo,
      async (send) => {
        await assert.rejects(send(), (reason) => {
          assert.ok(isFault(reason, "Unavailable"), String(reason));
          assert.match(reason.message, says);
          assert.equal(reason.message.includes("s3cret"), false);
          return true;
        });
      },
      { tls, target: { proxy: proxy.at(user) } },
    );
    const [asked] = proxy.asked;
    if (asked !== undefined && !asked.socket.destroyed) await once(asked.socket, "close"); // Ours to close: the proxy waits.
    proxy.close();
  });

test("data of the proxy after the CONNECT response is not used as data of the server", async () => {
  const proxy = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => void socket.write("HTTP/1.1 200 Connected\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"));
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  await between(
    echo,
    (send) => assert.rejects(send(), (reason) => isFault(reason, "Unavailable") && /the proxy/.test(reason.message)),
    { target: { proxy: proxyOf(`http://127.0.0.1:${port}`, spot) } },
  );
  proxy.close();
});

test("errors distinguish an unreachable proxy from an unreachable server", async () => {
  const proxy = await startProxy();
  proxy.close();
  await between(
    echo,
    (send) =>
      assert.rejects(
        send(),
        (reason) =>
          isFault(reason, "Unavailable") &&
          /^the proxy 127\.0\.0\.1:\d+ \(.*\) cannot be spoken to \(ECONNREFUSED\)/.test(reason.message),
      ),
    { tls, target: { proxy: proxy.at() } },
  );
});

test("a TLS proxy needs a certificate of the cluster's authority or of one that Node trusts", async () => {
  const proxy = await startProxy(undefined, tls);
  const stranger = createAuthority("stranger").issue({ commonName: "proxy", ipv4: ["127.0.0.1"] });
  const strange = await startProxy(undefined, { cert: stranger.certificate, key: stranger.key });
  await between(echo, async (send) => assert.equal((await send()).status, 200), { tls, target: { proxy: proxy.at() } });
  await between(
    echo,
    (send) =>
      assert.rejects(
        send(),
        (reason) =>
          isFault(reason, "Unavailable") && /the proxy .* cannot be spoken to \(UNABLE_TO/.test(reason.message),
      ),
    { tls, target: { proxy: strange.at() } },
  );
  assert.equal(strange.asked.length, 0);
  proxy.close();
  strange.close();
});

test("CONNECT has a timeout, and an established connection may be silent for longer", async () => {
  const silent = await startProxy(() => undefined);
  const quick = await startProxy();
  const open = (proxy: HttpProxy, server: string): Promise<Socket> =>
    new Promise((resolve, reject) =>
      openTunnel(
        {
          proxy,
          server,
          authority: undefined,
          insecure: false,
          silentMsMax: 30,
          signal: new AbortController().signal,
        },
        (failure, socket) => (socket === undefined ? reject(failure) : resolve(socket)),
      ),
    );
  await assert.rejects(open(silent.at(), "kube:6443"), /cannot be spoken to \(ETIMEDOUT\)/);
  const socket = await open(quick.at(), `127.0.0.1:${silent.port}`);
  await new Promise((resolve) => setTimeout(resolve, 90));
  assert.equal(socket.destroyed, false);
  socket.destroy();
  silent.close();
  quick.close();
});

test("a connection that opens after its request was abandoned serves the next request", async () => {
  const gate = Promise.withResolvers<void>();
  const proxy = await startProxy(undefined, undefined, gate.promise);
  await between(
    echo,
    async (send, served) => {
      const stop = new AbortController();
      const given = assert.rejects(send({ signal: stop.signal }), (reason) => isFault(reason, "Cancelled"));
      while (proxy.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await given;
      gate.resolve();
      while (served.accepted === 0) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal((await send()).status, 200);
      assert.equal(served.accepted, 1);
    },
    { tls, target: { proxy: proxy.at() } },
  );
  proxy.close();
});

test("aborting during CONNECT returns at once, and closing leaves no connection open", async () => {
  const proxy = await startProxy(() => undefined);
  await between(
    echo,
    async (send) => {
      const stop = new AbortController();
      const given = assert.rejects(send({ signal: stop.signal }), (reason) => isFault(reason, "Cancelled"));
      while (proxy.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await given;
    },
    { tls, target: { proxy: proxy.at() } },
  );
  const [asked] = proxy.asked;
  if (asked !== undefined && !asked.socket.destroyed)
    await new Promise((resolve) => asked.socket.once("close", resolve));
  proxy.close();
});
