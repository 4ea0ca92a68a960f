/** `snapkeep up`: everything there is in one process, on this machine, without a cluster. */
import { join } from "node:path";
import { type ClaimRules, claimRules } from "../../apiserver/index.ts";
import { defineCommand } from "../../runtime/command.ts";
import { loggingFlags } from "../../runtime/common-flags.ts";
import { bool, integer, oneOf } from "../../runtime/flag-kinds.ts";
import { createLog } from "../../runtime/log.ts";
import { kubeconfigOut, publishKubeconfig } from "../kubeconfig/publish.ts";
import { openRunFolder } from "../run-folder.ts";
import { demoSteps } from "../up/next-steps.ts";
import { startStack } from "../up/stack.ts";
import { tour } from "../up/tour.ts";
import { injectedFaults as faults } from "./directory-driver.ts";

export const command = defineCommand({
  flags: {
    exit: bool({ default: false, help: "Exit after the demo; the exit code is 0 if every step succeeded." }),
    tour: bool({ default: true, help: "Run the demo: take, restore and delete a snapshot." }),
    port: integer({ default: 0, min: 0, max: 65_535, help: "Port of the API server; 0 selects a free port." }),
    kubeconfigOut,
    claimRules: oneOf<ClaimRules>(claimRules, {
      default: "strict",
      help: "How to handle claims with an unsupported data source, as for snapkeep apiserver. strict refuses them, and writes no field that Kubernetes does not have.",
    }),
    fault: faults,
    verbosity: loggingFlags.verbosity,
  },
  examples: [
    { does: "Run the demo, then use the cluster with kubectl until Ctrl-C", line: "snapkeep up" },
    {
      does: "Add a context to your own kubeconfig until Ctrl-C",
      line: "snapkeep up --kubeconfig-out ~/.kube/config",
    },
    { does: "Run the demo and exit, for scripts", line: "snapkeep up --exit" },
    { does: "Show the errors of a failing driver", line: "snapkeep up --fault 'CreateSnapshot=Unavailable*3'" },
  ],
  async run({ options, world, signal, out, error, version }) {
    const warn = (line: string): unknown => error.write(`snapkeep up: ${line}\n`);
    const folder = await openRunFolder({ world, warn });
    const ending = new AbortController();
    const stopping = AbortSignal.any([signal, ending.signal]);
    const root = join(folder.path, "storage");
    const ends: (() => Promise<void>)[] = [];
    try {
      const startedAt = world.elapsed();
      const log = createLog({ format: "text", verbosity: options.verbosity, name: "up", world, out: error });
      const stack = await startStack({
        world,
        log,
        version,
        port: options.port,
        root,
        claimRules: options.claimRules,
        faults: options.fault,
        signal: stopping,
      });
      ends.push(() => stack.stopped);
      const published = await publishKubeconfig({ api: stack.api, out: options.kubeconfigOut, folder, world });
      ends.push(published.withdraw);
      out.write(
        `snapkeep ${version} is up after ${Math.round(world.elapsed() - startedAt)} ms: API server, snapshot-controller, csi-snapshotter, csi-provisioner, webhook, directory-driver\n\n`,
      );
      const held = options.tour ? await tour({ stack, world, out, signal: stopping }) : true;
      if (!options.exit && !signal.aborted) {
        out.write(
          `\nKubernetes API at ${stack.api.url}. In another terminal:\n\n  export KUBECONFIG=${published.path}\n`,
        );
        if (held)
          out.write(
            await demoSteps({ stack, world, signal: stopping, folder: folder.path, kubectl: published.kubectl }),
          );
        out.write(`\nCtrl-C ends it and removes ${folder.path}.\n`);
        if (!signal.aborted)
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      }
      return held ? 0 : 1;
    } finally {
      ending.abort();
      for (const end of ends.toReversed()) await end();
      await folder.remove();
      // A terminal has shown ^C in front of it.
      if (signal.aborted) out.write(`\nStopped; ${folder.path} is removed.\n`);
    }
  },
});
