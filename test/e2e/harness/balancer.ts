/** What a Service does for its clients: a new connection goes to the next backend that is ready, and stays there. */
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Backend {
  readonly port: number;
  isReady(): Promise<boolean>;
}

export interface Balancer {
  readonly port: number;
  close(): void;
}

/** As late as endpoints are on a cluster that is in a good mood. */
const lookEveryMs = 200;

export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const stopping = new AbortController();
  const sockets = new Set<Socket>();
  let ready = backends;
  let turn = 0;
  const server = createServer((client) => {
    turn += 1;
    const backend = connect(ready[turn % Math.max(1, ready.length)]?.port ?? 0, "127.0.0.1");
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    }
    client.pipe(backend).pipe(client);
    backend.on("error", () => client.destroy());
    client.on("error", () => backend.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const found = await Promise.all(backends.map((backend) => backend.isReady()));
      ready = backends.filter((_, index) => found[index]);
      await sleep(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  look();
  return {
    port: (server.address() as { port: number }).port,
    close: () => {
      stopping.abort();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
