/** Kept-alive connections to one server, for one set of certificates. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { limits } from "../base/limits.ts";
import { type ConnectionQueue, createConnectionQueue, type Waiter } from "./connection-queue.ts";
import type { Credential, HttpProxy, Target } from "./target.ts";
import { openTunnel, type TunnelOptions } from "./tunnel.ts";

/** What the TLS handshake depends on; a change needs new connections. */
export interface Trust extends Pick<Credential, "certificate" | "key"> {
  readonly authority: string | undefined;
}

export const isSameTrust = (a: Trust, b: Trust): boolean =>
  a.authority === b.authority && a.certificate === b.certificate && a.key === b.key;

/** Watches hold their connection for minutes, and a lease must not wait: each has connections of its own. */
export type Use = "request" | "stream" | "urgent";

export interface Pool {
  readonly trust: Trust;
  /** A request may be opened in its turn only. Returns how to give up waiting for it. */
  take(use: Use, waiter: Waiter): () => void;
  open(options: RequestOptions, use: Use): ClientRequest;
  /** At once, or when the connection is made and the server has proved itself. */
  whenOpen(socket: Socket, go: () => void): void;
  /** Whether it has carried a request before; from now on it has. Node's own mark misses requests that waited for a socket. */
  isUsed(socket: Socket): boolean;
  /** Closes idle connections. */
  dropIdle(): void;
  /** Closes idle connections, now and later. */
  retire(): void;
  isEmpty(): boolean;
  destroy(): void;
}

interface Lane {
  readonly queue: ConnectionQueue;
  readonly agent: HttpAgent;
}

export function createPool(target: Target, trust: Trust, socketIdleMsMax: number): Pool {
  const closing = new AbortController();
  const openEvent = isTls(target) ? "secureConnect" : "connect";
  const open = new WeakSet<Socket>();
  // From the start: a connection whose request was aborted still opens and serves another request later.
  const onNew = (socket: Socket): void => {
    if (isTls(target) || socket.connecting) socket.once(openEvent, () => open.add(socket));
    else open.add(socket);
  };
  const createAgent = agentsFor(target, trust, { socketIdleMsMax, closing: closing.signal, onNew });
  const createLane = (atOnceMax: number): Lane => ({
    queue: createConnectionQueue(atOnceMax),
    agent: createAgent(atOnceMax),
  });
  const lanes: Readonly<Record<Use, Lane>> = {
    request: createLane(limits.socketsPerHostMax),
    stream: createLane(Number.POSITIVE_INFINITY),
    urgent: createLane(limits.socketsPerHostMax),
  };
  const all = Object.values(lanes);
  const send = isTls(target) ? httpsRequest : httpRequest;
  const place = placeOf(target);
  const used = new WeakSet<Socket>();
  const dropIdle = (): void => {
    for (const { agent } of all)
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of [...(sockets ?? [])]) socket.destroy();
  };

  return {
    trust,
    take: (use, waiter) => lanes[use].queue.take(waiter),
    open: (options, use) => send({ ...options, ...place, agent: lanes[use].agent }),
    whenOpen: (socket, go) => {
      if (open.has(socket)) go();
      else socket.once(openEvent, go);
    },
    isUsed: (socket) => {
      const before = used.has(socket);
      used.add(socket);
      return before;
    },
    dropIdle,
    retire: () => {
      for (const { agent } of all) agent.maxFreeSockets = 0;
      dropIdle();
    },
    isEmpty: () => all.every(({ agent }) => Object.keys(agent.sockets).length === 0),
    destroy: () => {
      closing.abort();
      for (const { queue, agent } of all) {
        queue.clear();
        agent.destroy();
      }
    },
  };
}

interface AgentOptions {
  readonly socketIdleMsMax: number;
  readonly closing: AbortSignal;
  /** Told of every connection before anybody uses it. */
  onNew(socket: Socket): void;
}

/** What is alike for all connections is prepared once: reading the certificates costs more than the rest of a handshake. */
function agentsFor(
  target: Target,
  trust: Trust,
  { socketIdleMsMax, closing, onNew }: AgentOptions,
): (socketsMax: number) => HttpAgent {
  const shared = {
    keepAlive: true,
    keepAliveMsecs: tcpProbeMs,
    timeout: socketIdleMsMax,
    maxFreeSockets: limits.socketsPerHostMax,
  };
  const secure = isTls(target) ? secureOptions(target, trust) : undefined;
  return (maxSockets) => {
    const agent =
      secure === undefined
        ? new HttpAgent({ ...shared, maxSockets })
        : new HttpsAgent({ ...shared, ...secure, maxSockets });
    // All its connections are alike. Node's own name for them is built anew for every request, from all its options.
    agent.getName = () => target.server.host;
    const direct = agent.createConnection.bind(agent);
    const tunnel = target.proxy === undefined ? undefined : tunnelFor(target.proxy, target, trust, closing);
    agent.createConnection = (options, created) => {
      const reported = (made: unknown): Socket => {
        onNew(made as Socket);
        return made as Socket;
      };
      if (tunnel === undefined) return reported(direct(options));
      // Node's types ask for a socket beside every failure; its agent looks at none.
      const failed = created as ((failure: Error) => void) | undefined;
      openTunnel(tunnel, (failure, socket) => {
        if (failure !== null) return failed?.(failure);
        socket.setKeepAlive(true, tcpProbeMs);
        // Node's own connection begins where the proxy's ends.
        created?.(null, reported(secure === undefined ? socket : direct({ ...options, socket } as typeof options)));
      });
      return undefined;
    };
    return agent;
  };
}

function secureOptions(target: Target, trust: Trust) {
  const { host } = placeOf(target);
  return {
    secureContext: createSecureContext({ ca: trust.authority, cert: trust.certificate, key: trust.key }),
    // No name is sent for an address; the certificate must carry it all the same.
    servername: target.serverName ?? (isIP(host) === 0 ? host : ""),
    rejectUnauthorized: !target.insecure,
  };
}

function tunnelFor(proxy: HttpProxy, target: Target, trust: Trust, signal: AbortSignal): TunnelOptions {
  const { host, port } = placeOf(target);
  return {
    proxy,
    server: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    authority: trust.authority,
    insecure: target.insecure,
    silentMsMax: limits.connectionMsMax,
    signal,
  };
}

const tcpProbeMs = 30_000;

const isTls = ({ server }: Target): boolean => server.protocol === "https:";

/** A URL writes IPv6 addresses in brackets, a socket wants them without. */
const placeOf = (target: Target) => ({
  host: target.server.hostname.replace(/^\[(.*)\]$/, "$1"),
  port: Number(target.server.port) || (isTls(target) ? 443 : 80),
});
