/** Few connections for a public server: a new connection replaces the longest idle one. */
import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

/** Rejecting new connections instead would let one client block the kubelet's probes, which would restart the pod. */
export function keepFew(server: HttpServer | HttpsServer, connectionsMax: number): void {
  /** Those that have asked something last stand last. */
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    const [quietest] = sockets;
    if (quietest !== undefined && sockets.size >= connectionsMax) {
      sockets.delete(quietest);
      quietest.destroy();
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage) => {
    if (sockets.delete(socket)) sockets.add(socket);
  });
}
