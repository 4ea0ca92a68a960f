/** Requests on the sockets of a server: the body is received, the handler asked, its answer sent, whole or as a stream. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Fault } from "../base/fault.ts";
import type { Body, Handler, HttpRequest, HttpResponse } from "../base/http.ts";
import { isStream } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import { createMalformedListener, errorResponse } from "./error-response.ts";
import type { ServeOptions } from "./serve.ts";
import { createBodyReceiver } from "./serve-body.ts";
import type { Crowd } from "./serve-crowd.ts";
import type { OnRefusal } from "./serve-refusals.ts";

/** What bounds the clients of a server. */
export interface ClientBounds {
  readonly crowd: Crowd;
  readonly refused: OnRefusal;
}

export interface Requests {
  readonly listener: RequestListener;
  /** For what is no request. */
  readonly malformed: (error: Error, socket: Duplex) => void;
  /** From now on every answer closes its connection. */
  drain(): void;
  /** The next answer on this connection is its last. */
  endAfterNext(socket: Socket): void;
  /** The same, and streams end. */
  stop(): void;
}

export function createRequests(
  handler: Handler,
  { log, requestBytesMax = limits.requestBytesMax, bodiesBytesMax = limits.serveBodiesBytesMax }: ServeOptions,
  { crowd, refused }: ClientBounds,
): Requests {
  const receive = createBodyReceiver({ bytesMax: requestBytesMax, allBytesMax: bodiesBytesMax });
  /** Answers without an end of their own: the server's end is theirs. */
  const streaming = new Set<AbortController>();
  const malformed = createMalformedListener();
  let ending: WeakSet<Socket> | undefined;
  let state: "serving" | "draining" | "stopping" = "serving";

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse, body: Body): Promise<void> => {
    const gone = new AbortController();
    const answered = malformed.answers(incoming);
    outgoing.once("close", () => {
      answered();
      crowd.answered(incoming.socket);
      streaming.delete(gone);
      // This response had promised to keep its connection before we knew that we would stop.
      if (state === "stopping") incoming.socket.end();
      if (!outgoing.writableFinished) gone.abort(new Fault("Cancelled", "the client is gone"));
    });
    const headers = incoming.headers as HttpRequest["headers"];
    let response: HttpResponse;
    try {
      response = await handler({
        method: incoming.method ?? "GET",
        path: incoming.url ?? "/",
        headers,
        body,
        signal: gone.signal,
      });
    } catch (reason) {
      if (outgoing.destroyed) return;
      if (!(reason instanceof Fault)) log.error("request failed", { path: incoming.url, reason });
      response = errorResponse(Fault.from(reason));
    }
    if (state !== "serving" || ending?.has(incoming.socket) === true) outgoing.shouldKeepAlive = false;
    if (!isStream(response.body)) return sendWhole(incoming, outgoing, response, response.body);
    if (outgoing.destroyed) return void response.body[Symbol.asyncIterator]().return?.();
    streaming.add(gone);
    if (state !== "serving") gone.abort(shuttingDown());
    await sendStream(incoming, outgoing, response, response.body);
  };

  const listener: RequestListener = (incoming, outgoing) => {
    // Whoever is refused is disconnected, so only answers are counted back.
    crowd.asked(incoming.socket);
    receive(incoming, {
      whole(body) {
        respond(incoming, outgoing, body).catch((reason) => {
          log.warn("response was interrupted", { path: incoming.url, reason });
          outgoing.destroy();
        });
      },
      tooLarge: () => refuse(incoming, outgoing, tooLarge(requestBytesMax)),
      crowdedOut() {
        refused({ reason: "bodies", from: incoming.socket.remoteAddress });
        refuse(incoming, outgoing, tooMany);
      },
    });
  };

  return {
    listener,
    malformed: malformed.listener,
    drain() {
      if (state === "serving") state = "draining";
    },
    endAfterNext(socket) {
      ending ??= new WeakSet();
      ending.add(socket);
    },
    stop() {
      state = "stopping";
      for (const stream of streaming) stream.abort(shuttingDown());
    },
  };
}

const shuttingDown = (): Fault => new Fault("Unavailable", "the server is shutting down");

type Head = Pick<HttpResponse, "status" | "headers">;

function sendWhole({ method }: IncomingMessage, outgoing: ServerResponse, { status, headers }: Head, body: Body): void {
  const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  outgoing.writeHead(status, { ...headers, "content-length": bytes });
  outgoing.end(method === "HEAD" ? undefined : body);
}

async function sendStream(
  { method }: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers }: Head,
  body: AsyncIterable<Body>,
): Promise<void> {
  outgoing.writeHead(status, headers);
  // A watch may stay silent for minutes; its reader must know at once that it has begun.
  outgoing.flushHeaders();
  const chunks = body[Symbol.asyncIterator]();
  // Whoever waits in the stream when the client goes must be let out, even if it does not look at the signal.
  outgoing.once("close", () => void chunks.return?.().catch(() => undefined));
  if (method !== "HEAD")
    for (let step = await chunks.next(); step.done !== true && !outgoing.destroyed; step = await chunks.next())
      if (!outgoing.write(step.value)) await drained(outgoing);
  outgoing.end();
}

/** Resolves as well when the client is gone: then nothing drains any more. */
const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      outgoing.off("drain", go);
      outgoing.off("close", go);
      resolve();
    };
    if (outgoing.destroyed) return resolve();
    outgoing.once("drain", go);
    outgoing.once("close", go);
  });

const tooLarge = (bytesMax: number): Fault =>
  new Fault("TooLarge", bytesMax === 0 ? "requests have no bodies here" : `the body is larger than ${bytesMax} bytes`);
const tooMany = new Fault("Unavailable", "too many large requests are arriving at once; try again");

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault): void {
  outgoing.shouldKeepAlive = false;
  const response = errorResponse(fault);
  sendWhole(incoming, outgoing, response, response.body);
}
