/** Replies that no gRPC library sends, from a server of bare HTTP/2 on the other end of the socket. */
import assert from "node:assert/strict";
import { createServer, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connectTo, faultOf, temporaryFolder } from "../../test/csi-sockets.ts";

type Reply = (stream: ServerHttp2Stream) => void;

const head: OutgoingHttpHeaders = { ":status": 200, "content-type": "application/grpc" };
const framed = (message: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
const ending =
  (trailers: OutgoingHttpHeaders, body?: Buffer): Reply =>
  (stream) => {
    stream.respond(head, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(body);
  };

async function faultFor(t: TestContext, reply: Reply) {
  const address = join(temporaryFolder(t), "csi.sock");
  const server = createServer()
    .on("session", (session) => session.on("error", () => undefined))
    .on("stream", (stream) => reply(stream.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(address, resolve));
  t.after(() => server.close());
  return faultOf(connectTo(t, address).controller.createSnapshot({ name: "s" }));
}

const malformed: readonly (readonly [string, Reply, RegExp])[] = [
  ["without a message", ending({ "grpc-status": "0" }), /: No message received$/],
  [
    "that is no message",
    ending({ "grpc-status": "0" }, framed(Buffer.from([255, 255, 255]))),
    /: Response message parsing error: /,
  ],
  ["cut in mid-message", ending({ "grpc-status": "0" }, Buffer.from([0, 0, 0, 0, 9, 1])), /: No message received$/],
  [
    "longer than is possible",
    ending({ "grpc-status": "0" }, Buffer.from([0, 255, 0, 0, 0])),
    /: Received message larger/,
  ],
  [
    "compressed without saying how",
    ending({ "grpc-status": "0" }, Buffer.from([1, 0, 0, 0, 1, 7])),
    /: it cannot be decompressed$/,
  ],
  [
    "with status code 99",
    ending({ "grpc-status": "99", "grpc-message": "no%20such" }),
    /: gRPC defines no status code 99: no such$/,
  ],
  ["with status code -1", ending({ "grpc-status": "-1" }), /: gRPC defines no status code -1: no reason given$/],
  ["with a status code that is no number", ending({ "grpc-status": "OK" }), /: gRPC defines no status code NaN: /],
  ["without a status", ending({ other: "1" }, framed(Buffer.alloc(0))), /: Received HTTP status code 200$/],
  ["of nothing but headers", (stream) => stream.respond(head, { endStream: true }), /: Received HTTP status code 200$/],
  [
    "of a web server",
    (stream) => {
      stream.respond({ ":status": 404, "content-type": "text/html" });
      stream.end("<html>");
    },
    /: Received HTTP status code 404$/,
  ],
];
for (const [what, reply, why] of malformed)
  test(`a reply ${what} is a malformed reply`, async (t) => {
    const fault = await faultFor(t, reply);
    assert.equal(fault.code, "MalformedReply", fault.message);
    assert.match(fault.message, /^CreateSnapshot: the driver's reply cannot be read, the outcome is unknown: /);
    assert.match(fault.message, why);
  });

const lost: readonly (readonly [string, Reply])[] = [
  ["breaks before the headers", (stream) => stream.session?.destroy()],
  [
    "breaks after the headers",
    (stream) => {
      stream.respond(head);
      stream.write(framed(Buffer.alloc(0)), () => stream.session?.destroy());
    },
  ],
];
for (const [what, reply] of lost)
  test(`a connection that ${what} does not count as a reply`, async (t) => {
    const fault = await faultFor(t, reply);
    assert.ok(["UnknownOutcome", "Unavailable"].includes(fault.code), `${fault.code}: ${fault.message}`);
  });

const messages: readonly (readonly [string, string, string])[] = [
  ["one invalid byte in it", "disk%20%FF of 5%20%E2%82%AC is full", "disk \ufffd of 5 \u20ac is full"],
  ["Latin-1", "Ger%E4t fehlt%2C 100%25", "Ger\ufffdt fehlt, 100%"],
  ["a character cut off at the end", "too long%E2%82", "too long\ufffd"],
  ["a percent sign, well encoded", "100%25 of %252F", "100% of %2F"],
];
for (const [what, sent, read] of messages)
  test(`a grpc-message with ${what} is decoded as far as possible`, async (t) => {
    const fault = await faultFor(t, ending({ "grpc-status": "9", "grpc-message": sent }));
    assert.equal(fault.message, `rpc error: code = FailedPrecondition desc = ${read}`);
  });
