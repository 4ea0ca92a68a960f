/** HTTP and HTTPS servers that a test writes, and a transport to them. */
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { readAll } from "../src/base/http.ts";
import type { Outgoing } from "../src/kube/call.ts";
import type { Credential, Target } from "../src/kube/target.ts";
import { createTransport, type TransportOptions } from "../src/kube/transport.ts";
import { createAuthority } from "./e2e/harness/certificates.ts";

export const authority = createAuthority("cluster");
const serving = authority.issue({ commonName: "server", dnsNames: ["localhost", "kube"], ipv4: ["127.0.0.1"] });

export interface Served {
  readonly server: Server;
  readonly port: number;
  readonly sockets: Set<Socket>;
  /** Connections accepted so far. */
  accepted: number;
}

export async function serve(listener: RequestListener, tls?: object): Promise<Served> {
  const server =
    tls === undefined ? createHttpServer(listener) : (createHttpsServer(tls, listener) as unknown as Server);
  const served: Served = { server, port: 0, sockets: new Set(), accepted: 0 };
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    served.accepted += 1;
    served.sockets.add(socket);
    socket.on("close", () => served.sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return Object.assign(served, { port: (server.address() as AddressInfo).port });
}

export const fixedCredentials = (...credentials: readonly Credential[]): Target["credentials"] => {
  let index = 0;
  return {
    current: async () => credentials[index] ?? { headers: {} },
    refused: () => {
      index = Math.min(index + 1, credentials.length - 1);
    },
    origin: "users[0].user.token in config",
  };
};

export const targetAt = (server: string, more: Partial<Target> = {}): Target => ({
  server: new URL(server),
  namespace: "default",
  insecure: false,
  authority: async () => authority.certificate,
  credentials: fixedCredentials({ headers: { authorization: "Bearer abc" } }),
  origin: {
    server: "clusters[0].cluster.server in config",
    authority: "clusters[0].cluster.certificate-authority in config",
  },
  ...more,
});

/** A server, a transport to it, and both closed afterwards. */
export async function between<T>(
  listener: RequestListener,
  work: (
    send: (request?: Partial<Outgoing>) => Promise<{ status: number; text: string }>,
    served: Served,
  ) => Promise<T>,
  options: { tls?: object; target?: Partial<Target>; transport?: TransportOptions } = {},
): Promise<T> {
  const served = await serve(listener, options.tls);
  const scheme = options.tls === undefined ? "http" : "https";
  const { handler, close } = createTransport(
    targetAt(`${scheme}://127.0.0.1:${served.port}`, options.target),
    options.transport,
  );
  try {
    return await work(async (request) => {
      const response = await handler({ method: "GET", path: "/x", headers: {}, ...request } as Outgoing);
      return { status: response.status, text: await readAll(response.body) };
    }, served);
  } finally {
    close();
    served.server.closeAllConnections();
    served.server.close();
  }
}

export const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
};

export const tls = { cert: serving.certificate, key: serving.key };
