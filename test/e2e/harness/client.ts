/** Our own client on a real API server, as a component would have it. */
import { realWorld } from "../../../src/base/world.ts";
import { type ClientOptions, createClient } from "../../../src/kube/client.ts";
import { loadConfig } from "../../../src/kube/config.ts";
import { createTransport } from "../../../src/kube/transport.ts";

export type Client = ReturnType<typeof createClient>;

export interface Connection {
  readonly client: Client;
  close(): void;
}

export async function connect(kubeconfig: string, options: Partial<ClientOptions> = {}): Promise<Connection> {
  const target = await loadConfig({ kubeconfig, environment: process.env, world: realWorld });
  const { handler, close } = createTransport(target);
  return { client: createClient({ handler, world: realWorld, ...options }), close };
}
