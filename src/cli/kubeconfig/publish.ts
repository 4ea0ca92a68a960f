/** Gives the user of a server its kubeconfig: a file of its own in the run's folder, or entries in the file that is named. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServedApi } from "../../apiserver/index.ts";
import { Fault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import { text } from "../../runtime/flag-kinds.ts";
import type { RunFolder } from "../run-folder.ts";
import { enterKubeconfig, leaveKubeconfig } from "./file.ts";

export const kubeconfigOut = text({
  default: "",
  example: "./kubeconfig",
  help: "Kubeconfig file that gets a context snapkeep while the server runs; created if it does not exist, other entries stay unchanged. Empty: a new file in the temporary folder.",
});

export interface Published {
  readonly path: string;
  /** The kubectl command for that file, with --context if the context may not be current. */
  readonly kubectl: string;
  withdraw(): Promise<void>;
}

export interface PublishOptions {
  readonly api: Pick<ServedApi, "kubeconfig" | "kubeconfigEntry">;
  /** The flag; empty for none. */
  readonly out: string;
  readonly folder: RunFolder;
  readonly world: World;
}

export async function publishKubeconfig({ api, out, folder, world }: PublishOptions): Promise<Published> {
  if (out === "") {
    const path = join(folder.path, "kubeconfig");
    await writeFile(path, api.kubeconfig, { mode: 0o600 });
    return { path, kubectl: "kubectl", withdraw: async () => undefined };
  }
  const run = folder.path;
  await folder.noteKubeconfig(out);
  try {
    const context = await enterKubeconfig(out, { ...api.kubeconfigEntry, mark: { ...folder.owner, run } }, world);
    const withdraw = async (): Promise<void> => {
      await leaveKubeconfig(out, (mark) => mark.run === run, world);
      await folder.noteKubeconfig(undefined);
    };
    return { path: out, kubectl: `kubectl --context ${context}`, withdraw };
  } catch (reason) {
    await folder.noteKubeconfig(undefined);
    throw new Fault("FailedPrecondition", `${Fault.from(reason).message}; give another --kubeconfig-out`);
  }
}
