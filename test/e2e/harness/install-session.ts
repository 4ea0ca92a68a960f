/** `snapkeep install` typed at a real API server. */
import { realWorld, type World } from "../../../src/base/world.ts";
import { commands } from "../../../src/cli/commands.ts";
import { runCommandLine } from "../../../src/cli/run.ts";
import { whilePodsAreReady } from "../../install-pods.ts";
import type { InstallSession } from "../../install-states.ts";
import type { Connection } from "./client.ts";

/** --apply waits for pods, which no kubelet runs here: a second of that passes in ten milliseconds. */
const hurried: World = {
  ...realWorld,
  elapsed: () => realWorld.elapsed() * 100,
  sleep: (ms, signal) => realWorld.sleep(ms / 100, signal),
};

export function sessionOn(kubeconfig: string, { client }: Connection): InstallSession {
  const snapkeep: InstallSession["snapkeep"] = async (command, ...argv) => {
    let text = "";
    const write = (more: string): void => {
      text += more;
    };
    const isPatient = command === "install" && !argv.some((word) => word.startsWith("--timeout"));
    const patience = isPatient ? ["--timeout=2000s"] : [];
    const code = await runCommandLine(commands, [command, ...argv, `--kubeconfig=${kubeconfig}`, ...patience], {
      environment: {},
      signal: new AbortController().signal,
      world: hurried,
      out: { write },
      error: { write },
      version: "1.2.3",
    });
    return { code, text };
  };
  return {
    client,
    snapkeep,
    whilePodsAreReady: (prefix, work) => whilePodsAreReady(client, prefix, work),
  };
}
