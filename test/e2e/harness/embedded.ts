/** The embedded API server as a process of its own, for suites that run on both. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInstance, type Instance } from "./instance.ts";
import { until } from "./until.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");

export interface EmbeddedServer {
  readonly instance: Instance;
  readonly kubeconfig: string;
  stop(): void;
}

export async function startEmbeddedServer(moreFlags: readonly string[] = []): Promise<EmbeddedServer> {
  const instance = createInstance();
  const kubeconfig = join(instance.folder, "admin.kubeconfig");
  // The gate that the harness opens on the real control plane too.
  const flags = [
    "--port=0",
    `--kubeconfig-out=${kubeconfig}`,
    "--feature-gates=CrossNamespaceVolumeDataSource=true",
    ...moreFlags,
  ];
  const daemon = instance.start("apiserver", process.execPath, [main, "apiserver", ...flags]);
  try {
    await until({ what: "the embedded server has written its kubeconfig" }, () => {
      if (!daemon.running()) throw new Error(`snapkeep apiserver ended while starting:\n${daemon.lastWords()}`);
      return existsSync(kubeconfig) ? true : undefined;
    });
  } catch (reason) {
    instance.stop();
    throw reason;
  }
  return { instance, kubeconfig, stop: () => instance.stop() };
}
