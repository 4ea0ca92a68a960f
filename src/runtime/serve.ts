/**
 * A `Handler` over sockets: `overHttp` and `overHttps` are the only places that know server sockets. What a handler may
 * take for granted: the body has arrived whole and within the bound, the signal aborts when the client is gone or the
 * server closes, a streamed answer is read only as fast as the client reads, and a mistake in it becomes a 500 of its own
 * request and nothing else.
 */
import type { Server as HttpServer } from "node:http";
import { createServer as createHttpServer } from "node:http";
import type { Server as HttpsServer, ServerOptions } from "node:https";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { Handler } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { Address } from "./address.ts";
import { printAddress } from "./address.ts";
import { keepFew } from "./serve-crowd.ts";
import { createRefusalLog, type OnRefusal, reportHandshakes } from "./serve-refusals.ts";
import { type ClientBounds, createRequests, type Requests } from "./serve-requests.ts";

export interface ServeOptions {
  readonly address: Address;
  readonly log: Log;
  readonly world: Pick<World, "sleep" | "elapsed">;
  /** 0: requests have no bodies, and one that announces one is refused at once. */
  readonly requestBytesMax?: number | undefined;
  /** The limit of all bodies that are still arriving: above it, the one that began first is refused. */
  readonly bodiesBytesMax?: number | undefined;
  /** Above this number a connection is closed for each new one: one that has asked nothing, or the longest idle one. */
  readonly connectionsMax?: number | undefined;
  /** How long a client may take for its TLS handshake, to send its headers, and all of a request. */
  readonly patience?: Patience | undefined;
  /** Called for each connection or body that is refused. The server logs them by itself. */
  readonly refused?: OnRefusal | undefined;
}

interface Patience {
  readonly handshakeMsMax?: Millis;
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
  /** New connections use this one; those that exist go on. With another client authority, they end after one more answer. */
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
  const guard = guardOf(options);
  const requests = createRequests(handler, options, guard);
  return listening(createHttpServer(socketOptions(options), requests.listener), "http", requests, options, guard);
};

export async function overHttps(handler: Handler, identity: TlsIdentity, options: ServeOptions): Promise<TlsServer> {
  const guard = guardOf(options);
  const requests = createRequests(handler, options, guard);
  const handshakeTimeout = options.patience?.handshakeMsMax ?? limits.serveHandshakeMsMax;
  const tls = { ...contextOf(identity), handshakeTimeout };
  const server = createHttpsServer({ ...socketOptions(options), ...tls }, requests.listener);
  reportHandshakes(server, guard.refused);
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  let { clientCa } = identity;
  return {
    ...(await listening(server, "https", requests, options, guard)),
    renew(next) {
      const previous = clientCa;
      // A renewal need not know the client authorities; without them, Node would trust every public one.
      clientCa = next.clientCa ?? clientCa;
      server.setSecureContext(contextOf({ ...next, clientCa }));
      if (clientCa !== previous) for (const socket of sockets) requests.endAfterNext(socket);
    },
  };
}

function guardOf({
  world,
  log,
  refused: also,
  connectionsMax = limits.serveConnectionsMax,
}: ServeOptions): ClientBounds {
  const refused = createRefusalLog(world, log, also);
  return {
    refused,
    crowd: keepFew({ connectionsMax, crowdedOut: (from) => refused({ reason: "connections", from }) }),
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
  { address, world, log }: ServeOptions,
  { crowd }: ClientBounds,
): Promise<Server> {
  crowd.watch(server);
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
