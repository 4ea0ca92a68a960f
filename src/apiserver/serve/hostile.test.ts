/** Clients that mean harm, or are broken, over real sockets: answered where one can be, forgotten, and never worse. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { overHttp, type Server } from "../../runtime/serve.ts";
import { type ApiServer, createApiServer } from "../index.ts";

/** What may remain of everything below once the clients are gone. */
const growthBytesMax = 16 * 2 ** 20;
/** Only for what waits for it to end: a busy machine takes longer than this over what is no harm at all. */
const littlePatience = { headersMsMax: 400, requestMsMax: 800 } as const;
const bodyBytesMax = 4 * 2 ** 20;
const maps = "/api/v1/namespaces/default/configmaps";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heldBytes = (): number => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

let api: ApiServer;
let server: Server;
let impatient: Server;
let bytesBefore: number;
describe("hostile sockets", () => {
  before(async () => {
    api = createApiServer({ world: realWorld });
    [server, impatient] = [await listening(), await listening(littlePatience)];
    await told("GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    bytesBefore = heldBytes();
  });
  after(() => Promise.all([server.close(0), impatient.close(0)]));

  const listening = (patience?: typeof littlePatience): Promise<Server> =>
    overHttp(api.handler, {
      address: { host: "127.0.0.1", port: 0 },
      log: silent,
      world: realWorld,
      requestBytesMax: bodyBytesMax,
      patience,
    });

  async function opened(text: string | Buffer, { address: { host, port } } = server): Promise<Socket> {
    // Half-open is what a client is that has said all it wanted and still listens.
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(text);
    return socket;
  }

  /** All that comes back until the server ends the connection. */
  async function heard(socket: Socket): Promise<string> {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
    if (!socket.readableEnded && !socket.destroyed)
      await Promise.race([once(socket, "end"), once(socket, "close")]).catch(() => undefined);
    socket.destroy();
    return Buffer.concat(chunks).toString("latin1");
  }
  const told = async (text: string | Buffer, by = server): Promise<string> => heard(await opened(text, by));

  /** "400 Status 400": what HTTP says, the kind of the body, and the code in it. */
  function said(answer: string): string {
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    const [, http = "nothing"] = /^HTTP\/1\.1 (\d+)/.exec(head) ?? [];
    if (!body.startsWith("{")) return http;
    const { kind, code } = JSON.parse(body) as { kind: string; code: number };
    return `${http} ${kind} ${code}`;
  }

  const head = (line: string, ...headers: readonly string[]): string =>
    `${[line, "host: x", ...headers].join("\r\n")}\r\n\r\n`;
  const post = (...headers: readonly string[]): string =>
    head(`POST ${maps} HTTP/1.1`, "content-type: application/json", ...headers);

  async function isWell(): Promise<void> {
    assert.equal(said(await told(head("GET /readyz HTTP/1.1", "connection: close"))), "200");
  }

  async function untilNoWatch(): Promise<void> {
    while (api.watches() > 0) await realWorld.sleep(5);
  }

  const malformed: readonly (readonly [what: string, bytes: string | Buffer, answer: string])[] = [
    ["garbage", "\u0000\u0001\u0002 what is this\r\n\r\n", "400 Status 400"],
    ["half a TLS handshake", Buffer.from("16030100a5010000a10303", "hex"), "400 Status 400"],
    ["a method nobody knows", head("FROB / HTTP/1.1"), "400 Status 400"],
    ["a version nobody knows", head("GET / HTTP/9.9"), "400 Status 400"],
    ["a header without a name", head("GET / HTTP/1.1", ": x"), "400 Status 400"],
    ["headers without end", head("GET / HTTP/1.1", `x: ${"y".repeat(100_000)}`), "431 Status 431"],
    ["a negative length", post("content-length: -5"), "400 Status 400"],
    ["two lengths", post("content-length: 5", "content-length: 6"), "400 Status 400"],
    ["a length and chunks", post("content-length: 5", "transfer-encoding: chunked"), "400 Status 400"],
    ["chunks that are none", `${post("transfer-encoding: chunked")}zz\r\n`, "400 Status 400"],
    ["a body that is no JSON", `${post("content-length: 3", "connection: close")}{,}`, "400 Status 400"],
  ];
  for (const [what, bytes, answer] of malformed)
    test(`${what} is answered with ${answer}`, async () => {
      assert.equal(said(await told(bytes)), answer);
      await isWell();
    });

  test("pipelined requests are answered in order", async () => {
    const last = head("GET /readyz HTTP/1.1", "connection: close");
    const answers = await told(`${head("GET /readyz HTTP/1.1").repeat(3)}${last}`);
    assert.equal((answers.match(/HTTP\/1\.1 200/g) ?? []).length, 4);
  });

  test("garbage after a request closes its connection and the watch", async () => {
    const socket = await opened(head(`GET ${maps}?watch=true HTTP/1.1`));
    await once(socket, "data");
    assert.equal(api.watches(), 1);
    socket.write("\u0000garbage\r\n\r\n");
    await heard(socket);
    await untilNoWatch();
    await isWell();
  });

  test("headers and bodies that never end get 408, and the connection is closed", async () => {
    const slow = [
      "GET / HTTP/1.1\r\nhost: x\r\nx: y",
      post("content-length: 1000"),
      post("transfer-encoding: chunked"),
    ];
    const answers = await Promise.all(slow.map((text) => told(text, impatient)));
    assert.deepEqual(
      answers.map(said),
      slow.map(() => "408 Status 408"),
    );
  });

  test("a body over the limit gets 413, an endless one is disconnected, and neither is kept in memory", async () => {
    const large = "x".repeat(bodyBytesMax + 1);
    assert.equal(said(await told(`${post(`content-length: ${large.length}`)}${large}`)), "413 Status 413");
    const endless = await opened(post("transfer-encoding: chunked"), impatient);
    const chunk = `${(2 ** 20).toString(16)}\r\n${"x".repeat(2 ** 20)}\r\n`;
    const over = heard(endless);
    while (!endless.destroyed && !endless.readableEnded) {
      endless.write(chunk);
      await realWorld.sleep(5);
    }
    await over;
    await isWell();
  });

  test("aborted uploads reach no handler", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 40 }, () => opened(`${post("content-length: 3000000")}${"x".repeat(100_000)}`)),
    );
    for (const [index, socket] of sockets.entries()) index % 2 === 0 ? socket.resetAndDestroy() : socket.destroy();
    await isWell();
  });

  test("two hundred watches that are closed or half-closed at once are all removed", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const socket = await opened(head(`GET ${maps}?watch=true HTTP/1.1`));
        await once(socket, "data");
        return socket;
      }),
    );
    assert.equal(api.watches(), 200);
    for (const [index, socket] of sockets.entries()) {
      if (index % 3 === 0) socket.end();
      else if (index % 3 === 1) socket.resetAndDestroy();
      else socket.destroy();
    }
    await untilNoWatch();
    for (const socket of sockets) socket.destroy();
    await isWell();
  });

  test(`all hostile connections leave no more than ${growthBytesMax} bytes in memory`, async () => {
    // Sockets let go of their memory a little after their end.
    let growth = heldBytes() - bytesBefore;
    for (let tries = 0; tries < 20 && growth > growthBytesMax; tries += 1) {
      await realWorld.sleep(50);
      growth = heldBytes() - bytesBefore;
    }
    assert.ok(growth < growthBytesMax, `${growth} bytes more are held`);
  });
});
