/**
 * Few connections for a public server: a new connection replaces another. Rejecting new ones instead would let one client block the
 * kubelet's probes and the API server. Who has asked something is worth more than who has not, which includes those whose TLS
 * handshake still waits.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

/** So large a part of the connections may be silent before they are closed first; otherwise idle ones are. */
const silentShare = 1 / 4;

interface Connection {
  readonly socket: Socket;
  asking: number;
  among: Set<Connection>;
}

export interface CrowdOptions {
  readonly connectionsMax: number;
  /** A connection was closed to make room. */
  readonly crowdedOut?: ((from: string | undefined) => void) | undefined;
}

export function keepFew(server: HttpServer | HttpsServer, { connectionsMax, crowdedOut }: CrowdOptions): void {
  /** Each in the order in which its connections came into it: the first has waited longest. */
  const silent = new Set<Connection>();
  const idle = new Set<Connection>();
  const asking = new Set<Connection>();
  /** A request of a TLS server has another socket than the connection; both have the same ends. */
  const byEnds = new Map<string, Connection>();

  const move = (connection: Connection, to: Set<Connection>): void => {
    connection.among.delete(connection);
    connection.among = to;
    to.add(connection);
  };
  const makeRoom = (): void => {
    if (silent.size + idle.size + asking.size < connectionsMax) return;
    const order = silent.size > connectionsMax * silentShare ? [silent, idle, asking] : [idle, silent, asking];
    const [first] = order.find(({ size }) => size > 0) ?? [];
    if (first === undefined) return;
    first.among.delete(first);
    const { remoteAddress } = first.socket;
    first.socket.destroy();
    crowdedOut?.(remoteAddress);
  };

  server.on("connection", (socket: Socket) => {
    makeRoom();
    const ends = endsOf(socket);
    const connection: Connection = { socket, asking: 0, among: silent };
    silent.add(connection);
    byEnds.set(ends, connection);
    socket.once("close", () => {
      connection.among.delete(connection);
      if (byEnds.get(ends) === connection) byEnds.delete(ends);
    });
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = byEnds.get(endsOf(socket));
    if (connection === undefined) return;
    connection.asking += 1;
    move(connection, asking);
    response.once("close", () => {
      connection.asking -= 1;
      if (connection.asking === 0 && connection.among.has(connection)) move(connection, idle);
    });
  });
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
