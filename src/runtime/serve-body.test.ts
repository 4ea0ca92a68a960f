import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { eventually } from "../../test/csi-sockets.ts";
import { silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import { overHttp } from "./serve.ts";
import type { Refusal } from "./serve-refusals.ts";

const kib = 1_024;

async function served(t: TestContext) {
  const refusals: Refusal[] = [];
  let answered = 0;
  const server = await overHttp(
    async ({ body = "" }) => {
      answered += 1;
      return { status: 200, headers: {}, body: String((body as Buffer).length) };
    },
    {
      address: { host: "127.0.0.1", port: 0 },
      log: silent,
      world: realWorld,
      requestBytesMax: 64 * kib,
      bodiesBytesMax: 256 * kib,
      refused: (refusal) => refusals.push(refusal),
    },
  );
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close(0);
  });
  /** Announces a body of this size, and sends so much of it. */
  const send = async (announced: number, ...parts: readonly number[]) => {
    const socket = connect(server.address.port, "127.0.0.1").setNoDelay(true);
    sockets.push(socket);
    let received = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      received += text;
    });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${announced}\r\n\r\n`);
    for (const part of parts) await new Promise((resolve) => socket.write(Buffer.alloc(part, "x"), resolve));
    return { socket, received: () => received };
  };
  return { send, refusals, answered: () => answered };
}

test("of bodies that do not end, those that began first are refused, and a whole one is still answered", async (t) => {
  const { send, refusals, answered } = await served(t);
  const halves = [];
  for (let index = 0; index < 12; index++) {
    halves.push(await send(64 * kib, 60 * kib));
    await eventually("it has arrived", () => refusals.length === Math.max(0, index - 3));
  }
  for (const { received } of halves.slice(0, 8)) {
    await eventually("it is refused", () => received().includes("try again"));
    assert.match(received(), /^HTTP\/1\.1 503 [\s\S]*connection: close[\s\S]*too many large requests/i);
  }
  assert.deepEqual([...new Set(refusals.map(({ reason }) => reason))], ["bodies"]);
  for (const { received } of halves.slice(8)) assert.equal(received(), "");
  const whole = await send(kib, kib);
  await eventually("it is answered", () => whole.received().endsWith(`\r\n\r\n${kib}`));
  assert.equal(answered(), 1);
});

test("the end of a body or of its connection makes room", async (t) => {
  const { send, refusals, answered } = await served(t);
  for (let index = 0; index < 8; index++) {
    const { received } = await send(60 * kib, 60 * kib);
    await eventually("it is answered", () => received().includes("200 OK"));
    const { socket } = await send(64 * kib, 60 * kib);
    socket.destroy();
  }
  const last = await send(60 * kib, 60 * kib);
  await eventually("it is answered", () => last.received().includes("200 OK"));
  assert.deepEqual([answered(), refusals], [9, []]);
});

test("a body of many small chunks counts as what it occupies", async (t) => {
  const { send, refusals } = await served(t);
  const chunk = `1\r\nx\r\n`;
  const { socket, received } = await send(0);
  // The first request has no body, and is answered.
  await eventually("it is answered", () => received().includes("200 OK"));
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(1_000)}`);
  await eventually("it is refused", () => refusals.length === 1);
  await eventually("it is told", () => received().includes("503"));
});
