/** Kept-alive connections to one server, for one set of certificates. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { limits } from "../base/limits.ts";
import type { Credential, Target } from "./target.ts";

/** What the TLS handshake depends on; a change needs new connections. */
export interface Trust extends Pick<Credential, "certificate" | "key"> {
  readonly authority: string | undefined;
}

export const isSameTrust = (a: Trust, b: Trust): boolean =>
  a.authority === b.authority && a.certificate === b.certificate && a.key === b.key;

export interface Pool {
  readonly trust: Trust;
  /** Watches hold their connection for minutes: they have their own, or a dozen of them would starve the requests. */
  open(options: RequestOptions, use: "request" | "stream" | "urgent"): ClientRequest;
  /** Whether it has carried a request before; from now on it has. Node's own mark misses requests that waited for a socket. */
  isUsed(socket: Socket): boolean;
  /** Closes what nobody uses. */
  dropIdle(): void;
  /** Closes what nobody uses, now and from now on. */
  retire(): void;
  isEmpty(): boolean;
  destroy(): void;
}

export function createPool(target: Target, trust: Trust, socketIdleMsMax: number): Pool {
  const isTls = target.server.protocol === "https:";
  const shared = {
    keepAlive: true,
    keepAliveMsecs: tcpProbeMs,
    timeout: socketIdleMsMax,
    maxFreeSockets: limits.socketsPerHostMax,
  };
  const secure = {
    ca: trust.authority,
    cert: trust.certificate,
    key: trust.key,
    servername: target.serverName,
    rejectUnauthorized: !target.insecure,
  };
  const createAgent = (maxSockets: number): HttpAgent => {
    const agent = isTls
      ? new HttpsAgent({ ...shared, ...secure, maxSockets })
      : new HttpAgent({ ...shared, maxSockets });
    // All its connections are alike. Node's own name for them is built anew for every request, from the whole certificates.
    agent.getName = () => target.server.host;
    return agent;
  };
  const agents = {
    request: createAgent(limits.socketsPerHostMax),
    stream: createAgent(Number.POSITIVE_INFINITY),
    urgent: createAgent(limits.socketsPerHostMax),
  };
  const all = Object.values(agents);
  const send = isTls ? httpsRequest : httpRequest;
  const place = { host: hostOf(target.server), port: target.server.port || (isTls ? 443 : 80) };
  const used = new WeakSet<Socket>();
  const dropIdle = (): void => {
    for (const { freeSockets } of all)
      for (const sockets of Object.values(freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
  };

  return {
    trust,
    open: (options, use) => send({ ...options, ...place, agent: agents[use] }),
    isUsed: (socket) => {
      const before = used.has(socket);
      used.add(socket);
      return before;
    },
    dropIdle,
    retire: () => {
      for (const agent of all) agent.maxFreeSockets = 0;
      dropIdle();
    },
    isEmpty: () => all.every(({ sockets }) => Object.keys(sockets).length === 0),
    destroy: () => {
      for (const agent of all) agent.destroy();
    },
  };
}

const tcpProbeMs = 30_000;

/** A URL writes IPv6 addresses in brackets, a socket wants them without. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");
