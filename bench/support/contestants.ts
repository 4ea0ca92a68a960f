/** The two API servers that are compared, each with everything it needs to run. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { realWorld } from "../../src/base/world.ts";
import type { Outgoing } from "../../src/kube/call.ts";
import { createClient } from "../../src/kube/client.ts";
import { loadConfig } from "../../src/kube/config.ts";
import { createTransport } from "../../src/kube/transport.ts";
import type { Client } from "../../test/e2e/harness/client.ts";
import { startControlPlane } from "../../test/e2e/harness/control-plane.ts";
import { createInstance } from "../../test/e2e/harness/instance.ts";
import { until } from "../../test/e2e/harness/until.ts";
import { type Usage, usageIn } from "./usage.ts";

export interface Contestant {
  readonly name: string;
  readonly startSeconds: number;
  readonly client: Client;
  /** Bytes as they come, unparsed. */
  stream(path: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The sum over its processes. */
  usage(): Usage;
  stop(): Promise<void>;
}

const root = resolve(import.meta.dirname, "../..");
const bundle = join(root, "dist/snapkeep.js");

export function buildBundle(): void {
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "ignore" });
}

async function connectTo(kubeconfig: string) {
  const target = await loadConfig({ kubeconfig, environment: process.env, world: realWorld });
  const { handler, close } = createTransport(target);
  async function* stream(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const request: Outgoing = { method: "GET", path, headers: { accept: "application/json" }, stream: true, signal };
    const { status, body } = await handler(request);
    if (status !== 200 || typeof body === "string" || !(Symbol.asyncIterator in body))
      throw new Error(`GET ${path} was answered with status ${status}`);
    for await (const chunk of body) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  }
  return { client: createClient({ handler, world: realWorld }), stream, close };
}

const isServing = (client: Client) =>
  until({ what: "the API server serves its first namespace", everyMs: 5 }, async () =>
    (await client.get({ kind: "Namespace", name: "default" }).catch(() => undefined)) === undefined ? undefined : true,
  );

export async function startOurs(profiles: string | undefined): Promise<Contestant> {
  const instance = createInstance();
  const startedAt = performance.now();
  const kubeconfig = join(instance.folder, "admin.kubeconfig");
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const flags = ["--port=0", `--kubeconfig-out=${kubeconfig}`];
  const daemon = instance.start("apiserver", process.execPath, [...profiling, bundle, "apiserver", ...flags]);
  await until({ what: "the kubeconfig is there", everyMs: 5 }, () => {
    if (!daemon.running()) throw new Error(daemon.lastWords());
    return existsSync(kubeconfig) ? true : undefined;
  });
  const { close, ...connection } = await connectTo(kubeconfig);
  await isServing(connection.client);
  return {
    name: "snapkeep",
    startSeconds: (performance.now() - startedAt) / 1_000,
    ...connection,
    usage: () => usageIn(instance.folder),
    stop: async () => {
      close();
      await daemon.stop();
      instance.stop();
    },
  };
}

/** Without a controller manager: the embedded server does part of its work, and is measured with it. */
export async function startTheirs(): Promise<Contestant> {
  const startedAt = performance.now();
  const plane = await startControlPlane({ controllers: "none" });
  const { close, ...connection } = await connectTo(plane.kubeconfig);
  await isServing(connection.client);
  return {
    name: "etcd + kube-apiserver",
    startSeconds: (performance.now() - startedAt) / 1_000,
    ...connection,
    usage: () => usageIn(plane.folder),
    stop: async () => {
      close();
      plane.stop();
    },
  };
}
