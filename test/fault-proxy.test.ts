/** The fault proxy does what it says: otherwise what survives it proves nothing. */
import assert from "node:assert/strict";
import { createServer, get, type Server, type ServerResponse } from "node:http";
import { after, before, describe, test } from "node:test";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";

let server: Server;
let proxy: FaultProxy;
let streams: ServerResponse[] = [];
const served: string[] = [];

describe("the fault proxy", () => {
  before(async () => {
    server = createServer((request, response) => {
      served.push(String(request.url));
      if (request.url === "/dies") return void request.socket.destroy();
      response.write("first\n");
      if (request.url === "/stream") streams.push(response);
      else response.end();
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    proxy = await createFaultProxy({ port: (server.address() as { port: number }).port });
  });
  after(async () => {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  });

  interface Reading {
    text: string;
    /** How it ended, once it has. */
    readonly ended: Promise<"complete" | "broken">;
    /** Resolves with the next piece. */
    more(): Promise<void>;
  }

  function read(path: string): Reading {
    let heard = (): void => undefined;
    const reading: Reading = {
      text: "",
      more: () =>
        new Promise((resolve) => {
          heard = resolve;
        }),
      ended: new Promise((resolve) => {
        const request = get({ port: proxy.port, path, host: "127.0.0.1", agent: false }, (response) => {
          response.on("data", (chunk) => {
            reading.text += chunk;
            heard();
          });
          response.on("end", () => resolve("complete")).on("error", () => resolve("broken"));
        });
        request.on("error", () => resolve("broken"));
      }),
    };
    return reading;
  }

  async function openStream(): Promise<{ reading: Reading; send: (text: string) => void }> {
    streams = [];
    const reading = read("/stream");
    await reading.more();
    return { reading, send: (text) => void streams[0]?.write(text) };
  }

  const isStream = (request: string): boolean => request === "GET /stream";

  test("by default the proxy forwards everything", async () => {
    const reading = read("/plain");
    assert.equal(await reading.ended, "complete");
    assert.equal(reading.text, "first\n");
  });

  test("a held request arrives when it is released, and the next one is not held", async () => {
    const { held, release } = proxy.hold((request) => request === "GET /held");
    served.length = 0;
    const reading = read("/held");
    await held;
    assert.equal(await read("/held").ended, "complete");
    assert.deepEqual(served, ["/held"], "only the second one has arrived");
    release();
    assert.equal(await reading.ended, "complete");
    assert.deepEqual(served, ["/held", "/held"]);
  });

  test("a disconnected connection is broken for the client", async () => {
    const { reading } = await openStream();
    assert.equal(
      proxy.disconnect((request) => request === "GET /other"),
      0,
    );
    assert.equal(proxy.disconnect(isStream), 1);
    assert.equal(await reading.ended, "broken");
  });

  test("a truncated frame is sent by half, in a broken reply or in one that ends properly", async () => {
    for (const [how, ended] of [
      ["cut", "broken"],
      ["end", "complete"],
    ] as const) {
      const { reading, send } = await openStream();
      assert.equal(proxy.truncate(how, isStream), 1);
      send("0123456789abcdefghij\n");
      assert.equal(await reading.ended, ended);
      assert.match(reading.text, /^first\n0123456/);
      assert.doesNotMatch(reading.text, /j/);
    }
  });

  test("a stalled stream stays open and silent, and other streams are not affected", async () => {
    const { reading, send } = await openStream();
    assert.equal(proxy.stall(isStream), 1);
    send("unheard\n");
    const other = read("/plain");
    assert.equal(await other.ended, "complete");
    assert.equal(reading.text, "first\n");
  });

  test("an injected frame arrives between two of the server's", async () => {
    const { reading, send } = await openStream();
    assert.equal(proxy.inject("ours\n", isStream), 1);
    await reading.more();
    send("theirs\n");
    await reading.more();
    assert.equal(reading.text, "first\nours\ntheirs\n");
  });

  test("a request with a lost reply reaches the server", async () => {
    const lost = proxy.loseReply((request) => request.endsWith("/lost"));
    const reading = read("/lost");
    await lost;
    assert.equal(await reading.ended, "broken");
    assert.ok(served.includes("/lost"));
    assert.equal(await read("/lost").ended, "complete", "one reply only");
  });

  test("only existing replies are lost", async () => {
    let isLost = false;
    const lost = proxy
      .loseReply(() => true)
      .then(() => {
        isLost = true;
      });
    assert.equal(await read("/dies").ended, "broken");
    assert.deepEqual([served.at(-1), isLost], ["/dies", false]);
    assert.equal(await read("/plain").ended, "broken");
    await lost;
    assert.equal(await read("/plain").ended, "complete");
  });

  test("delayed replies come later", async () => {
    proxy.delayReplies(30);
    const startedAt = performance.now();
    await read("/plain").ended;
    assert.ok(performance.now() - startedAt >= 29);
    proxy.delayReplies(0);
  });

  test("refused connections never reach the server", async () => {
    await proxy.refuse(true);
    const before = served.length;
    assert.equal(await read("/plain").ended, "broken");
    await proxy.refuse(false);
    assert.equal(served.length, before);
    assert.equal(await read("/plain").ended, "complete");
  });

  test("a request that the proxy answers does not reach the server, and is counted", async () => {
    const { length } = served;
    const refusing = proxy.answer(503, (request) => request === "GET /plain");
    const refused = read("/plain");
    assert.equal(await refused.ended, "complete");
    assert.match(refused.text, /"code":503/);
    assert.equal(await read("/other").ended, "complete");
    refusing.end();
    assert.equal(refusing.count(), 1);
    assert.equal(await read("/plain").ended, "complete");
    assert.deepEqual(served.slice(length), ["/other", "/plain"]);
  });

  test("after a reset requests reach the server again, and the record has both kinds", async () => {
    const record = proxy.record();
    proxy.answer(503, () => true);
    assert.equal(await read("/other").ended, "complete");
    proxy.answerNoMore();
    const passed = read("/plain");
    assert.equal(await passed.ended, "complete");
    assert.doesNotMatch(passed.text, /503/);
    assert.deepEqual(record, ["GET /other", "GET /plain"]);
    assert.deepEqual(proxy.record(), [], "a record begins when it is asked for");
  });
});
