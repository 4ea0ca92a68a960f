/** The two pairs of controller and sidecar that are compared, as processes on one control plane. */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import type { ControlPlane } from "../../test/e2e/harness/control-plane.ts";
import type { Daemon } from "../../test/e2e/harness/instance.ts";
import { tools } from "../../test/e2e/harness/tools.ts";
import { type Usage, usageOf } from "./usage.ts";

export type Side = "snapkeep" | "reference";
type Part = "controller" | "sidecar";

export interface Pair {
  usage(): Readonly<Record<Part, Usage>>;
  stop(): Promise<void>;
}

export interface Pairs {
  start(side: Side): Pair;
}

/** As docs/guides/replacing-upstream.md advises: a young generation that fits what is really young. */
const nodeFlags = ["--max-semi-space-size=4"];
const root = resolve(import.meta.dirname, "../..");
/** Upstream's defaults are 5 and 10: with them there would be nothing to measure. Worker threads stay as they are. */
const tuned = ["--kube-api-qps=5000", "--kube-api-burst=5000"];

interface PairOptions {
  readonly plane: ControlPlane;
  readonly socket: string;
  /** Where to leave a processor profile of each of our processes, if anywhere. */
  readonly profiles?: string | undefined;
}

export async function createPairs({ plane, socket, profiles }: PairOptions): Promise<Pairs> {
  const reference = await tools("snapshot-controller", "csi-snapshotter");
  // As released: the bundle. From sources, type stripping alone holds tens of megabytes.
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "ignore" });
  const bundle = join(root, "dist/snapkeep.js");
  const shared = [`--kubeconfig=${plane.kubeconfig}`];
  const beside = [...shared, `--csi-address=${socket}`];
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const ours = (name: string, flags: readonly string[]): Daemon =>
    plane.instance.start(`snapkeep-${name}`, process.execPath, [...nodeFlags, ...profiling, bundle, name, ...flags]);
  const theirs = (name: keyof typeof reference, flags: readonly string[]): Daemon =>
    plane.instance.start(`reference-${name}`, reference[name], [...flags, ...tuned]);
  return {
    start: (side) => {
      const start = side === "snapkeep" ? ours : theirs;
      return pairOf({ controller: start("snapshot-controller", shared), sidecar: start("csi-snapshotter", beside) });
    },
  };
}

function pairOf(daemons: Readonly<Record<Part, Daemon>>): Pair {
  const used = (part: Part): Usage => {
    const daemon = daemons[part];
    if (!daemon.running()) throw new Error(`the ${part} ended:\n${daemon.lastWords()}`);
    return usageOf(daemon.pid);
  };
  return {
    usage: () => ({ controller: used("controller"), sidecar: used("sidecar") }),
    stop: async () => {
      await Promise.all(Object.values(daemons).map((daemon) => daemon.stop()));
    },
  };
}
