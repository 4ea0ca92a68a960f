/**
 * gRPC on a Unix socket, down to the frame: it sends what no gRPC library would, such as bytes that are no message, numbers that are
 * no code, and texts that cannot be decoded.
 */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { Controller, Identity } from "../../../src/csi/gen/csi_pb.js";
import { decoderOf, encoderOf, methodPathOf, unaryMethodsOf } from "../../../src/csi/wire.ts";

export type Answer =
  /** A reply in good order, as its fields. */
  | { readonly kind: "message"; readonly fields: object }
  /** The status says OK, and these bytes are the reply; undefined: there is none. */
  | { readonly kind: "bytes"; readonly bytes: Buffer | undefined }
  /** The text goes out as it is: what gRPC wants percent-encoded must be so already. */
  | { readonly kind: "status"; readonly code: number; readonly text: string }
  /** The connection breaks. */
  | { readonly kind: "broken" };

export const message = (fields: object): Answer => ({ kind: "message", fields });
export const bytes = (...reply: readonly number[]): Answer => ({ kind: "bytes", bytes: Buffer.from(reply) });
export const noReply: Answer = { kind: "bytes", bytes: undefined };
export const refusal = (code: number, text: string): Answer => rawRefusal(code, percentEncoded(text));
export const rawRefusal = (code: number, text: string): Answer => ({ kind: "status", code, text });
export const broken: Answer = { kind: "broken" };

/** As gRPC has it: printable ASCII but the percent sign stays as it is. */
const percentEncoded = (text: string): string =>
  text.replaceAll(/[^\x20-\x24\x26-\x7e]+/g, (run) => Buffer.from(run).toString("hex").replaceAll(/../g, "%$&"));

export type Answering = (method: string, request: Message) => Answer | Promise<Answer>;

export interface WireServer {
  /** Every connection is closed, as when the process is killed. */
  close(): Promise<void>;
}

const methods = new Map(
  [Identity, Controller].flatMap((service) =>
    unaryMethodsOf(service).map((method) => [methodPathOf(method), method] as const),
  ),
);
const unimplemented = refusal(12, "not implemented");

export async function serveWire(socket: string, answering: Answering): Promise<WireServer> {
  rmSync(socket, { force: true });
  const sessions = new Set<ServerHttp2Session>();
  const server: Http2Server = createServer()
    .on("session", (session) => {
      sessions.add(session);
      session.on("close", () => sessions.delete(session));
      session.on("error", () => undefined);
    })
    .on("stream", (stream, headers) => void respond(stream, methods.get(headers[":path"] ?? ""), answering));
  server.listen(socket);
  await once(server, "listening");
  return {
    close: async () => {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

async function respond(
  stream: ServerHttp2Stream,
  method: DescMethodUnary | undefined,
  answering: Answering,
): Promise<void> {
  stream.on("error", () => undefined);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  await once(stream, "end").catch(() => undefined);
  if (stream.destroyed) return;
  if (method === undefined) {
    send(stream, unimplemented, Buffer.alloc(0));
    return;
  }
  const request = decoderOf(method.input)(Buffer.concat(chunks).subarray(frameHead));
  const answer = await answering(method.name, request);
  // Its caller may have given up meanwhile.
  if (stream.destroyed || stream.closed) return;
  const reply =
    answer.kind === "message" ? encoderOf(method.output)(create(method.output, { ...answer.fields })) : Buffer.alloc(0);
  send(stream, answer, reply);
}

const frameHead = 5;
const headers = { ":status": 200, "content-type": "application/grpc" };

function send(stream: ServerHttp2Stream, answer: Answer, reply: Buffer): void {
  switch (answer.kind) {
    case "message":
      sendFrame(stream, reply);
      break;
    case "bytes":
      sendFrame(stream, answer.bytes);
      break;
    case "status": {
      const status = { "grpc-status": String(answer.code), "grpc-message": answer.text };
      stream.respond({ ...headers, ...status }, { endStream: true });
      break;
    }
    case "broken":
      stream.session?.destroy();
  }
}

function sendFrame(stream: ServerHttp2Stream, reply: Buffer | undefined): void {
  stream.respond(headers, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  const head = Buffer.alloc(frameHead);
  head.writeUInt32BE(reply?.length ?? 0, 1);
  stream.end(reply === undefined ? undefined : Buffer.concat([head, reply]));
}
