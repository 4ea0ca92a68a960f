/** Answers byte by byte: what could be read in two ways must not be read at all. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { targetAt } from "../../test/http-server.ts";
import { isFault } from "../base/fault.ts";
import { readAll } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { Outgoing } from "./call.ts";
import { createTransport } from "./transport.ts";

/** A server that writes `bytes` whenever a request has come. */
async function answering<T>(
  react: (socket: Socket, request: number) => void,
  work: (send: (request?: Partial<Outgoing>) => Promise<string>, sockets: ReadonlySet<Socket>) => Promise<T>,
): Promise<T> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      if (bytes.includes("\r\n\r\n")) react(socket, ++requests);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { handler, close } = createTransport(targetAt(`http://127.0.0.1:${port}`));
  try {
    const send = async (request: Partial<Outgoing> = {}): Promise<string> => {
      const { status, body } = await handler({ method: "GET", path: "/x", headers: {}, ...request } as Outgoing);
      return `${status} ${await readAll(body)}`;
    };
    return await work(send, sockets);
  } finally {
    close();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

const read: Readonly<Record<string, readonly [bytes: string, text: string]>> = {
  "chunks, with an extension and a trailer": [
    `${chunked}3;a=b\r\n{ }\r\n2\r\nab\r\n0\r\nX-Sum: 1\r\n\r\n`,
    "200 { }ab",
  ],
  "Continue before it": [`HTTP/1.1 100 Continue\r\n\r\n${ok}\r\nok`, "200 ok"],
  "no reason after the status": ["HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n", "404 "],
};
for (const [given, [bytes, text]] of Object.entries(read))
  test(`a response with ${given} is read, in one piece or byte by byte`, async () => {
    await answering(
      (socket, request) => {
        if (request === 1) socket.write(bytes);
        else for (const byte of bytes) socket.write(byte);
      },
      async (send) => assert.deepEqual([await send(), await send()], [text, text]),
    );
  });

test("a response that ends with the connection is read completely", () =>
  answering(
    (socket) => socket.end("HTTP/1.1 200 OK\r\nA: b\r\n\r\nall of it"),
    async (send) => assert.equal(await send(), "200 all of it"),
  ));

const wrongs: Readonly<Record<string, string>> = {
  "another protocol": "SSH-2.0-OpenSSH_9.2\r\n\r\n",
  "HTTP/2": "HTTP/2 200\r\n\r\n",
  "a change of protocol": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  "a blank before a colon": "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
  "a line without a colon": "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
  "two lengths": `${ok}Content-Length: 3\r\n\r\nok`,
  "a negative length": "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n",
  "a length and chunks": `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "a chunk without a size": `${chunked}zz\r\n`,
  "a chunk longer than it says": `${chunked}1\r\nab\r\n0\r\n\r\n`,
  "a head without an end": `HTTP/1.1 200 OK\r\nA: ${"b".repeat(70_000)}`,
};
for (const [given, bytes] of Object.entries(wrongs))
  test(`a response with ${given} is an error, and its connection is not reused`, () =>
    answering(
      (socket, request) => socket.write(request === 1 ? bytes : `${ok}\r\nok`),
      async (send, sockets) => {
        await assert.rejects(send({ method: "POST", body: "{}" }), (reason) => isFault(reason, "UnknownOutcome"));
        assert.equal(await send(), "200 ok");
        assert.equal(sockets.size, 2);
      },
    ));

for (const [when, write] of [
  [
    "together with",
    (socket: Socket) => void socket.write(`${ok}\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
  ],
  [
    "after",
    (socket: Socket) => {
      socket.write(`${ok}\r\nok`);
      setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), 20);
    },
  ],
] as const)
  test(`an unsolicited response, ${when} another, is not used for any request`, () =>
    answering(
      (socket, request) => (request === 1 ? write(socket) : socket.write(`${ok}\r\nit`)),
      async (send, sockets) => {
        assert.equal(await send().catch(() => "200 ok"), "200 ok");
        // The client has seen the second response: it gives the connection up.
        for (const socket of sockets) if (!socket.closed) await once(socket, "close");
        assert.equal(await send(), "200 it");
        assert.equal(sockets.size, 2);
      },
    ));

test("a response before the end of the request closes the connection and does not affect other requests", () =>
  answering(
    (socket) => {
      socket.pause();
      socket.write(`${ok}\r\nno`);
    },
    async (send) => {
      const body = Buffer.alloc(16 * 2 ** 20, "x");
      for (let count = 0; count <= limits.socketsPerHostMax; count++)
        assert.equal(await send({ method: "PUT", body }), "200 no");
    },
  ));

const smuggled: Readonly<Record<string, Partial<Outgoing>>> = {
  "a line break in the path": { path: "/api HTTP/1.1\r\nx: y" },
  "a blank in the path": { path: "/a b" },
  "a letter in the path that is not percent-encoded": { path: "/ü" },
  "a line break in the method": { method: "GET\r\n" },
  "a line break in a header": { headers: { authorization: "Bearer secret\r\nb: c" } },
};
for (const [given, request] of Object.entries(smuggled))
  test(`a request with ${given} is not sent, and the error does not contain its token`, () =>
    answering(
      () => assert.fail("it was sent"),
      async (send) => {
        await assert.rejects(
          send(request),
          (reason) => isFault(reason, "InvalidArgument") && !reason.message.includes("secret"),
        );
      },
    ));
