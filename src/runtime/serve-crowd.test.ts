import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connect as tlsConnect } from "node:tls";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { keepFew } from "./serve-crowd.ts";

const authority = createAuthority("crowd");
const { certificate: cert, key } = authority.issue({ commonName: "s", ipv4: ["127.0.0.1"] });

async function served(t: TestContext, connectionsMax: number, scheme: "http" | "https") {
  let crowdedOut = 0;
  const crowd = keepFew({
    connectionsMax,
    crowdedOut: () => {
      crowdedOut += 1;
    },
  });
  /** Requests to /slow are not answered. */
  const listener: RequestListener = ({ url, socket }, response) => {
    crowd.asked(socket);
    response.once("close", () => crowd.answered(socket));
    if (url !== "/slow") response.end("ok");
  };
  const server = scheme === "http" ? createServer(listener) : createTlsServer({ cert, key }, listener);
  crowd.watch(server);
  await new Promise<void>((resolve) => void (server as Server).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const lost: string[] = [];
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return {
    lost,
    crowdedOut: () => crowdedOut,
    /** A TCP connection that says nothing. */
    async open(name: string): Promise<Socket> {
      const accepted = once(server, "connection");
      const socket = connect(port, "127.0.0.1").on("error", () => undefined);
      sockets.push(socket);
      socket.once("close", () => lost.push(name));
      await accepted;
      return socket;
    },
    async secured(socket: Socket): Promise<Socket> {
      const secure = tlsConnect({ socket, ca: authority.certificate, host: "127.0.0.1" }).on("error", () => undefined);
      await once(secure, "secureConnect");
      return secure;
    },
    async sendSlow(socket: Socket): Promise<void> {
      const asked = once(server, "request");
      socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
      await asked;
    },
  };
}

async function ask(socket: Socket): Promise<void> {
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "data");
}

test("when all connections are in use, a new one replaces the one that has been silent for longest", async (t) => {
  const { open, lost, crowdedOut } = await served(t, 3, "http");
  const [first, second, third] = [await open("first"), await open("second"), await open("third")];
  await ask(first);
  const fourth = await open("fourth");
  await once(second, "close");
  await ask(fourth);
  const fifth = await open("fifth");
  await once(third, "close");
  assert.deepEqual(lost, ["second", "third"]);
  assert.equal(crowdedOut(), 2);
  for (const socket of [first, fourth, fifth]) await ask(socket);
});

test("of connections that have asked, the longest idle one is replaced, and one that waits for an answer is kept", async (t) => {
  const { open, lost, sendSlow } = await served(t, 4, "http");
  const [waiting, older, newer, newest] = [
    await open("waiting"),
    await open("older"),
    await open("newer"),
    await open("newest"),
  ];
  await sendSlow(waiting);
  for (const socket of [older, newer, newest]) await ask(socket);
  await ask(older);
  const next = await open("next");
  await once(newer, "close");
  await ask(next);
  await open("last");
  await once(newest, "close");
  assert.deepEqual(lost, ["newer", "newest"]);
});

test("idle connections leave a quarter of the places to those that have not asked yet", async (t) => {
  const { open, lost } = await served(t, 8, "http");
  for (let index = 0; index < 8; index++) await ask(await open(`idle-${index}`));
  // The third one finds two that are silent.
  const silent = [await open("silent-0"), await open("silent-1"), await open("silent-2")];
  for (const socket of silent) await ask(socket);
  assert.deepEqual(lost, ["idle-0", "idle-1", "idle-2"]);
});

test("over TLS a connection whose handshake waits is replaced before one that has asked", async (t) => {
  const { open, secured, lost } = await served(t, 3, "https");
  const asked = await secured(await open("asked"));
  await ask(asked);
  const waiting = await open("waiting");
  await open("waiting too");
  const next = await open("next");
  await once(waiting, "close");
  await ask(await secured(next));
  await ask(asked);
  assert.deepEqual(lost, ["waiting"]);
});
