/** `snapkeep apiserver`: the embedded Kubernetes API server on its own. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveApi } from "../../apiserver/serve/https.ts";
import { Fault } from "../../base/fault.ts";
import { fileTrouble } from "../../base/file-trouble.ts";
import { silent } from "../../base/log.ts";
import { defineCommand } from "../../runtime/command.ts";
import { featureGates, integer, text } from "../../runtime/flag-kinds.ts";

export const command = defineCommand({
  flags: {
    host: text({ default: "127.0.0.1", help: "Address to listen on. Empty: every address of this machine." }),
    port: integer({ default: 6443, min: 0, max: 65_535, help: "Port to listen on; 0 takes any free one." }),
    kubeconfigOut: text({
      default: "",
      example: "./kubeconfig",
      help: "Where to write the kubeconfig of the administrator. Empty: a file in the temporary folder, gone when the server ends.",
    }),
    tokenAuthFile: text({
      default: "",
      example: "./tokens.csv",
      help: 'More users: lines of token,user,uid,"group1,group2". They may do what roles and bindings allow.',
    }),
    featureGates: featureGates(
      { CrossNamespaceVolumeDataSource: false },
      { help: "Kubernetes feature gates; those left out have Kubernetes' defaults." },
    ),
  },
  examples: [
    { does: "Start an API server and use it", line: "snapkeep apiserver --kubeconfig-out ./kubeconfig" },
    { does: "Take any free port", line: "snapkeep apiserver --port 0 --kubeconfig-out ./kubeconfig" },
  ],
  async run({ options, world, signal, out, version }) {
    const api = await serveApi({
      world,
      log: silent,
      host: options.host,
      port: options.port,
      tokenFile: options.tokenAuthFile,
      featureGates: options.featureGates,
      version,
    });
    // A folder of its own: names in the temporary folder can be read, and taken, by everybody.
    const folder = options.kubeconfigOut === "" ? await mkdtemp(join(tmpdir(), "snapkeep-")) : undefined;
    try {
      const path = folder === undefined ? options.kubeconfigOut : join(folder, "kubeconfig");
      await writeWhole(path, api.kubeconfig);
      out.write(`Kubernetes API at ${api.url}\n\n  kubectl --kubeconfig ${path} get namespaces\n\n`);
      await api.run(signal);
      return 0;
    } finally {
      await api.close();
      // Nobody can use it any more: the server's token ends with it.
      if (folder !== undefined) await rm(folder, { recursive: true });
    }
  },
});

/** It appears with all that is in it: whoever waits for the file may read it at once. A file that was there is never written into. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.draft`;
  try {
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (reason) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new Fault(
      "InvalidArgument",
      `the kubeconfig cannot be written to ${path}: ${fileTrouble(reason)}; give another --kubeconfig-out`,
    );
  }
}
