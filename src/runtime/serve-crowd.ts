/**
 * Few connections for a public server: a new connection replaces another. Rejecting new ones instead would let one client block the
 * kubelet's probes and the API server. Who has asked something is worth more than who has not, which includes those whose TLS
 * handshake still waits.
 */
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

/** So large a part of the connections may be silent before they are closed first; otherwise idle ones are. */
const silentShare = 1 / 4;

interface Connection {
  readonly socket: Socket;
  /** Requests without an answer yet. */
  asking: number;
  /** When it last asked or was answered, as a count of such moments; 0: never. */
  usedAt: number;
}

export interface CrowdOptions {
  readonly connectionsMax: number;
  /** A connection was closed to make room. */
  readonly crowdedOut?: ((from: string | undefined) => void) | undefined;
}

export interface Crowd {
  watch(server: HttpServer | HttpsServer): void;
  asked(socket: Socket): void;
  answered(socket: Socket): void;
}

export function keepFew({ connectionsMax, crowdedOut }: CrowdOptions): Crowd {
  /** In the order in which they came. A request only counts; the search for the one to replace is left to a full server. */
  const all = new Set<Connection>();
  let silent = 0;
  let moment = 0;
  /** A request of a TLS server has another socket than the connection; both have the same ends. */
  const byEnds = new Map<string, Connection>();
  const bySocket = new WeakMap<Socket, Connection>();

  const forget = (connection: Connection): void => {
    if (all.delete(connection) && connection.usedAt === 0) silent -= 1;
  };
  const makeRoom = (): void => {
    if (all.size < connectionsMax) return;
    const firstSilent = (): Connection | undefined => all.values().find(({ usedAt }) => usedAt === 0);
    const chosen = silent > connectionsMax * silentShare ? firstSilent() : (longestUnused(all, 0) ?? firstSilent());
    const first = chosen ?? longestUnused(all, Number.POSITIVE_INFINITY);
    if (first === undefined) return;
    const { remoteAddress } = first.socket;
    forget(first);
    first.socket.destroy();
    crowdedOut?.(remoteAddress);
  };
  const connectionOf = (socket: Socket): Connection | undefined => {
    const known = bySocket.get(socket);
    if (known !== undefined) return known;
    const found = byEnds.get(endsOf(socket));
    if (found !== undefined) bySocket.set(socket, found);
    return found;
  };

  const use = (socket: Socket, more: number): void => {
    const connection = connectionOf(socket);
    if (connection === undefined) return;
    if (connection.usedAt === 0 && all.has(connection)) silent -= 1;
    connection.usedAt = moment += 1;
    connection.asking += more;
  };
  return {
    watch: (server) =>
      void server.on("connection", (socket: Socket) => {
        makeRoom();
        const ends = endsOf(socket);
        const connection: Connection = { socket, asking: 0, usedAt: 0 };
        silent += 1;
        all.add(connection);
        byEnds.set(ends, connection);
        socket.once("close", () => {
          forget(connection);
          if (byEnds.get(ends) === connection) byEnds.delete(ends);
        });
      }),
    asked: (socket) => use(socket, 1),
    answered: (socket) => use(socket, -1),
  };
}

/** Chooses among the connections that have asked something and wait for so many answers at most. */
function longestUnused(all: Iterable<Connection>, askingMax: number): Connection | undefined {
  let longest: Connection | undefined;
  for (const connection of all)
    if (connection.usedAt > 0 && connection.asking <= askingMax)
      if (longest === undefined || connection.usedAt < longest.usedAt) longest = connection;
  return longest;
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
