/** Kept-alive connections to one server, for one set of certificates. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { limits } from "../base/limits.ts";
import type { Credential, Target } from "./target.ts";
import { createTurns, type Turns, type Waiter } from "./turns.ts";

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
  /** Whether it has carried a request before; from now on it has. Node's own mark misses requests that waited for a socket. */
  isUsed(socket: Socket): boolean;
  /** Closes what nobody uses. */
  dropIdle(): void;
  /** Closes what nobody uses, now and from now on. */
  retire(): void;
  isEmpty(): boolean;
  destroy(): void;
}

interface Lane {
  readonly turns: Turns;
  readonly agent: HttpAgent;
}

export function createPool(target: Target, trust: Trust, socketIdleMsMax: number): Pool {
  const createAgent = agentsFor(target, trust, socketIdleMsMax);
  const createLane = (atOnceMax: number): Lane => ({ turns: createTurns(atOnceMax), agent: createAgent(atOnceMax) });
  const lanes: Readonly<Record<Use, Lane>> = {
    request: createLane(limits.socketsPerHostMax),
    stream: createLane(Number.POSITIVE_INFINITY),
    urgent: createLane(limits.socketsPerHostMax),
  };
  const all = Object.values(lanes);
  const isTls = target.server.protocol === "https:";
  const send = isTls ? httpsRequest : httpRequest;
  const place = { host: hostOf(target.server), port: Number(target.server.port) || (isTls ? 443 : 80) };
  const used = new WeakSet<Socket>();
  const dropIdle = (): void => {
    for (const { agent } of all)
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of [...(sockets ?? [])]) socket.destroy();
  };

  return {
    trust,
    take: (use, waiter) => lanes[use].turns.take(waiter),
    open: (options, use) => send({ ...options, ...place, agent: lanes[use].agent }),
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
      for (const { turns, agent } of all) {
        turns.clear();
        agent.destroy();
      }
    },
  };
}

/** What is alike for all connections is prepared once: reading the certificates costs more than the rest of a handshake. */
function agentsFor(target: Target, trust: Trust, socketIdleMsMax: number): (socketsMax: number) => HttpAgent {
  const { server, serverName, insecure } = target;
  const shared = {
    keepAlive: true,
    keepAliveMsecs: tcpProbeMs,
    timeout: socketIdleMsMax,
    maxFreeSockets: limits.socketsPerHostMax,
  };
  const withName = (agent: HttpAgent): HttpAgent => {
    // All its connections are alike. Node's own name for them is built anew for every request, from all its options.
    agent.getName = () => server.host;
    return agent;
  };
  if (server.protocol !== "https:")
    return (socketsMax) => withName(new HttpAgent({ ...shared, maxSockets: socketsMax }));
  const host = hostOf(server);
  const secure = {
    ...shared,
    secureContext: createSecureContext({ ca: trust.authority, cert: trust.certificate, key: trust.key }),
    servername: serverName ?? (isIP(host) === 0 ? host : ""),
    rejectUnauthorized: !insecure,
  };
  return (socketsMax) => withName(new HttpsAgent({ ...secure, maxSockets: socketsMax }));
}

const tcpProbeMs = 30_000;

/** A URL writes IPv6 addresses in brackets, a socket wants them without. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");
