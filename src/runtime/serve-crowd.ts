/** Few connections for a server that anybody may reach: whoever comes gets one, and whoever has been quiet the longest loses his. */
import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

/** Refusing those who come instead would let whoever holds all connections open keep the kubelet out, which would end the pod. */
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
