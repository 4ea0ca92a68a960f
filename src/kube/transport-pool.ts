/** Kept-alive connections to one server, for one set of certificates. */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type TLSSocket } from "node:tls";
import { limits } from "../base/limits.ts";
import { type Connection, type ConnectionOwner, createConnection, hungUp } from "./connection.ts";
import type { Credential, Target } from "./target.ts";

/** What the TLS handshake depends on; a change needs new connections. */
export interface Trust extends Pick<Credential, "certificate" | "key"> {
  readonly authority: string | undefined;
}

export const isSameTrust = (a: Trust, b: Trust): boolean =>
  a.authority === b.authority && a.certificate === b.certificate && a.key === b.key;

/** Watches hold their connection for minutes, and a lease must not wait: each has connections of its own. */
export type Use = "request" | "stream" | "urgent";

export interface Applicant {
  /** The connection is there, and carries nothing else until the answer is complete. */
  ready(connection: Connection, isReused: boolean): void;
  fail(reason: unknown): void;
}

export interface Pool {
  readonly trust: Trust;
  /** Returns how to give up while there is no connection yet. */
  take(use: Use, applicant: Applicant): () => void;
  /** Closes what nobody uses. */
  dropIdle(): void;
  /** Closes what nobody uses, now and from now on. */
  retire(): void;
  isEmpty(): boolean;
  destroy(): void;
}

export function createPool(target: Target, trust: Trust, socketIdleMsMax: number): Pool {
  const open = opener(target, trust, socketIdleMsMax);
  let isRetired = false;
  const createNewLane = (connectionsMax: number): Lane =>
    createLane({ open, connectionsMax, keepsIdle: () => !isRetired });
  const lanes: Readonly<Record<Use, Lane>> = {
    request: createNewLane(limits.socketsPerHostMax),
    stream: createNewLane(Number.POSITIVE_INFINITY),
    urgent: createNewLane(limits.socketsPerHostMax),
  };
  const all = Object.values(lanes);
  const dropIdle = (): void => {
    for (const lane of all) lane.dropIdle();
  };

  return {
    trust,
    take: (use, applicant) => lanes[use].take(applicant),
    dropIdle,
    retire: () => {
      isRetired = true;
      dropIdle();
    },
    isEmpty: () => all.every((lane) => lane.isEmpty()),
    destroy: () => {
      for (const lane of all) lane.destroy();
    },
  };
}

interface Lane extends Omit<Pool, "trust" | "take" | "retire"> {
  take(applicant: Applicant): () => void;
}

interface LaneOptions {
  /** The socket tells by "timeout" that it has been silent for as long as an idle one may be. */
  readonly open: (ready: () => void) => Socket;
  readonly connectionsMax: number;
  readonly keepsIdle: () => boolean;
}

function createLane({ open, connectionsMax, keepsIdle }: LaneOptions): Lane {
  const idle = new Set<Connection>();
  const alive = new Set<Connection>();
  const waiting = new Set<Applicant>();
  /** The connections that are being made, by whom they are for. */
  const dialing = new Map<Applicant, Connection>();

  /** The longest waiting goes first. */
  const next = (): Applicant | undefined => {
    const [first] = waiting;
    if (first !== undefined) waiting.delete(first);
    return first;
  };
  const owner: ConnectionOwner = {
    free: (connection) => {
      const applicant = next();
      if (applicant !== undefined) return applicant.ready(connection, true);
      if (!keepsIdle()) return connection.destroy();
      connection.rest();
      idle.add(connection);
    },
    gone: (connection) => {
      idle.delete(connection);
      if (!alive.delete(connection)) return;
      const applicant = next();
      if (applicant !== undefined) dial(applicant);
    },
  };

  const dial = (applicant: Applicant): void => {
    const socket = open(() => {
      dialing.delete(applicant);
      applicant.ready(connection, false);
    });
    const connection = createConnection(socket, owner);
    alive.add(connection);
    dialing.set(applicant, connection);
    let failure: unknown;
    socket.once("error", (reason) => {
      failure = reason;
    });
    socket.once("close", () => {
      if (dialing.delete(applicant)) applicant.fail(failure ?? hungUp());
    });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, tcpProbeMs);
    socket.on("timeout", () => {
      if (idle.has(connection)) connection.destroy();
    });
  };

  /** The one used last: it is the least likely to have been closed by the server meanwhile. */
  const newest = (): Connection | undefined => {
    let found: Connection | undefined;
    for (const connection of idle) if (connection.isOpen()) found = connection;
    return found;
  };

  return {
    take: (applicant) => {
      const connection = newest();
      if (connection !== undefined) {
        idle.delete(connection);
        applicant.ready(connection, true);
      } else if (alive.size < connectionsMax) dial(applicant);
      else waiting.add(applicant);
      // Whoever waits may be dialled for later: what counts is where it is when it gives up.
      return () => {
        waiting.delete(applicant);
        dialing.get(applicant)?.destroy();
      };
    },
    dropIdle: () => {
      for (const connection of [...idle]) connection.destroy();
    },
    isEmpty: () => alive.size === idle.size,
    destroy: () => {
      const left = [...waiting];
      waiting.clear();
      for (const connection of [...alive]) connection.destroy();
      for (const applicant of left) applicant.fail(hungUp());
    },
  };
}

/** What is alike for all connections is prepared once: reading the certificates costs more than the rest of a handshake. */
function opener(target: Target, trust: Trust, silentMs: number): (ready: () => void) => Socket {
  const { server, serverName, insecure } = target;
  const host = hostOf(server);
  const isTls = server.protocol === "https:";
  const place = { host, port: Number(server.port) || (isTls ? 443 : 80), timeout: silentMs };
  if (!isTls) return (ready) => connectTcp(place, ready);
  const secure = {
    ...place,
    secureContext: createSecureContext({ ca: trust.authority, cert: trust.certificate, key: trust.key }),
    servername: serverName ?? (isIP(host) === 0 ? host : undefined),
    rejectUnauthorized: !insecure,
    ALPNProtocols: ["http/1.1"],
  };
  let session: Buffer | undefined;
  return (ready) => {
    const socket: TLSSocket = connectTls(session === undefined ? secure : { ...secure, session }, ready);
    socket.on("session", (issued) => {
      session = issued;
    });
    // One that the server does not take any more must not be offered for ever.
    socket.once("error", () => {
      session = undefined;
    });
    return socket;
  };
}

const tcpProbeMs = 30_000;

/** A URL writes IPv6 addresses in brackets, a socket wants them without. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");
