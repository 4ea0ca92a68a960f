/**
 * A `Handler` over sockets: `overHttp` and `overHttps` are the only places that know server sockets. What a handler may
 * take for granted: the body has arrived whole and within the bound, the signal aborts when the client is gone or the
 * server closes, a streamed answer is read only as fast as the client reads, and a mistake in it becomes a 500 of its own
 * request and nothing else.
 */
import type { Server as HttpServer, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createHttpServer } from "node:http";
import type { Server as HttpsServer, ServerOptions } from "node:https";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { Body, Handler, HttpRequest, HttpResponse } from "../base/http.ts";
import { isStream } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { Address } from "./address.ts";
import { printAddress } from "./address.ts";
import { createMalformedListener, errorResponse } from "./error-response.ts";
import { receive } from "./serve-body.ts";
import { keepFew } from "./serve-crowd.ts";

export interface ServeOptions {
  readonly address: Address;
  readonly log: Log;
  readonly world: Pick<World, "sleep">;
  /** 0: requests have no bodies, and one that announces one is refused at once. */
  readonly requestBytesMax?: number | undefined;
  /** Above this number the longest idle connection is closed. Absent: above a high limit new ones are refused. */
  readonly connectionsMax?: number | undefined;
  /** How long a client may take to send its headers, and all of a request. */
  readonly patience?: Patience | undefined;
}

interface Patience {
  readonly headersMsMax: Millis;
  readonly requestMsMax: Millis;
}

export interface Server {
  readonly address: Address;
  /** "http://127.0.0.1:40123" */
  readonly url: string;
  /** Keeps serving, but every response closes its connection, so that clients reconnect to another replica. */
  drain(): void;
  /** Accepts no more requests, lets running ones finish (streams end), and disconnects the rest after `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

/** As PEM. */
export interface TlsIdentity {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Authorities of client certificates: clients without a certificate of them are rejected. */
  readonly clientCa?: string | Buffer | undefined;
}

export interface TlsServer extends Server {
  /** New connections use this one; those that exist go on. */
  renew(identity: TlsIdentity): void;
}

const usualPatience = { headersMsMax: limits.serveHeadersMsMax, requestMsMax: limits.serveRequestMsMax } as const;

const socketOptions = ({ patience = usualPatience }: ServeOptions) =>
  ({
    headersTimeout: patience.headersMsMax,
    requestTimeout: patience.requestMsMax,
    connectionsCheckingInterval: patience.headersMsMax / 2,
    keepAliveTimeout: limits.serveIdleMsMax,
    maxHeaderSize: limits.serveHeaderBytesMax,
    noDelay: true,
  }) as const;

const closeMsMax = 5_000;

export const overHttp = (handler: Handler, options: ServeOptions): Promise<Server> => {
  const requests = createRequests(handler, options);
  return listening(createHttpServer(socketOptions(options), requests.listener), "http", requests, options);
};

export async function overHttps(handler: Handler, identity: TlsIdentity, options: ServeOptions): Promise<TlsServer> {
  const requests = createRequests(handler, options);
  const server = createHttpsServer({ ...socketOptions(options), ...contextOf(identity) }, requests.listener);
  return {
    ...(await listening(server, "https", requests, options)),
    // A renewal does not know the client authorities; without them, Node would trust every public one.
    renew: (next) => server.setSecureContext(contextOf({ ...next, clientCa: next.clientCa ?? identity.clientCa })),
  };
}

const contextOf = ({ cert, key, clientCa }: TlsIdentity): ServerOptions => ({
  cert,
  key,
  minVersion: "TLSv1.2",
  ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
});

async function listening(
  server: HttpServer | HttpsServer,
  scheme: "http" | "https",
  requests: Requests,
  { address, world, log, connectionsMax }: ServeOptions,
): Promise<Server> {
  if (connectionsMax === undefined) server.maxConnections = limits.serveConnectionsMax;
  else keepFew(server, connectionsMax);
  server.on("clientError", requests.malformed);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (reason: NodeJS.ErrnoException) => reject(cannotListen(address, reason)));
    server.listen(address.port, address.host, resolve);
  });
  server.on("error", (reason) => log.warn("server socket failed", { address: printAddress(address), reason }));
  const { address: host, port } = server.address() as AddressInfo;
  const bound: Address = { host, port };
  const reachable = host === "::" || host === "0.0.0.0" ? { host: "127.0.0.1", port } : bound;
  return {
    address: bound,
    url: `${scheme}://${printAddress(reachable)}`,
    drain: requests.drain,
    async close(graceMs = closeMsMax) {
      requests.stop();
      await receivedIsRead();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      const timer = new AbortController();
      const closeAll = (): void => server.closeAllConnections();
      world.sleep(graceMs, timer.signal).then(closeAll, () => undefined);
      await closed;
      timer.abort();
    },
  };
}

/**
 * A connection counts as idle, and is closed at once, until its next request has been read. On a busy machine that request may have been
 * received by then, and an API server does not repeat it: two immediates are a whole turn of the event loop, which reads it.
 */
async function receivedIsRead(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there; choose another port or stop it",
  EACCES: "ports below 1024 need a privileged user; choose a higher one",
  EADDRNOTAVAIL: "this machine does not have that address; use one of its own, or none for all",
  ENOTFOUND: "the host is not known; use an address of this machine, or none for all",
};

const cannotListen = (address: Address, reason: NodeJS.ErrnoException): Fault =>
  new Fault(
    "FailedPrecondition",
    `cannot listen on ${printAddress(address)}: ${listenProblems[reason.code ?? ""] ?? reason.message}`,
    { cause: reason },
  );

interface Requests {
  readonly listener: RequestListener;
  /** For what is no request. */
  readonly malformed: (error: Error, socket: Duplex) => void;
  /** From now on every answer closes its connection. */
  drain(): void;
  /** The same, and streams end. */
  stop(): void;
}

function createRequests(
  handler: Handler,
  { log, requestBytesMax = limits.requestBytesMax }: Pick<ServeOptions, "log" | "requestBytesMax">,
): Requests {
  /** Answers without an end of their own: the server's end is theirs. */
  const streaming = new Set<AbortController>();
  const malformed = createMalformedListener();
  let state: "serving" | "draining" | "stopping" = "serving";

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse, body: Body): Promise<void> => {
    const gone = new AbortController();
    const answered = malformed.answers(incoming);
    outgoing.once("close", () => {
      answered();
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
    if (state !== "serving") outgoing.shouldKeepAlive = false;
    if (!isStream(response.body)) return sendWhole(incoming, outgoing, response, response.body);
    if (outgoing.destroyed) return void response.body[Symbol.asyncIterator]().return?.();
    streaming.add(gone);
    if (state !== "serving") gone.abort(shuttingDown());
    await sendStream(incoming, outgoing, response, response.body);
  };

  const listener: RequestListener = (incoming, outgoing) => {
    const finish = (body: Body): void => {
      respond(incoming, outgoing, body).catch((reason) => {
        log.warn("response was interrupted", { path: incoming.url, reason });
        outgoing.destroy();
      });
    };
    receive(incoming, requestBytesMax, finish, () => tooLarge(incoming, outgoing, requestBytesMax));
  };

  return {
    listener,
    malformed: malformed.listener,
    drain() {
      if (state === "serving") state = "draining";
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

function tooLarge(incoming: IncomingMessage, outgoing: ServerResponse, bytesMax: number): void {
  outgoing.shouldKeepAlive = false;
  const response = errorResponse(
    new Fault(
      "TooLarge",
      bytesMax === 0 ? "requests have no bodies here" : `the body is larger than ${bytesMax} bytes`,
    ),
  );
  sendWhole(incoming, outgoing, response, response.body);
}
