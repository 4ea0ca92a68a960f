/** The real kubectl, with the kubeconfig of a control plane. */
import { type Ran, type RunOptions, run } from "./run.ts";
import { tool } from "./tools.ts";

/** At import, so that a build counts against no test's time. */
const program = await tool("kubectl");

export const createKubectl =
  (kubeconfig: string) =>
  (args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    run(program, args, { ...options, env: { ...options.env, KUBECONFIG: kubeconfig } });
