/** The two pairs of controller and sidecar that are compared, as processes on one control plane. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ControlPlane } from "../../test/e2e/harness/control-plane.ts";
import type { Daemon } from "../../test/e2e/harness/instance.ts";
import { tools } from "../../test/e2e/harness/tools.ts";
import { type Usage, usageOf } from "./usage.ts";

/** "against": another bundle of ours. */
export type Side = "snapkeep" | "reference" | "against";
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
  /** The folder of another bundle of ours. */
  readonly against?: string | undefined;
}

export async function createPairs({ plane, socket, profiles, against }: PairOptions): Promise<Pairs> {
  const reference = against === undefined ? await tools("snapshot-controller", "csi-snapshotter") : undefined;
  // As released: the bundle. From sources, type stripping alone holds tens of megabytes.
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "ignore" });
  const bundles = { snapkeep: bundleIn(join(root, "dist")), against: against && bundleIn(resolve(against)) };
  const shared = [`--kubeconfig=${plane.kubeconfig}`];
  const beside = [...shared, `--csi-address=${socket}`];
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const commandOf = (side: Side, name: Program): readonly [program: string, ...flags: string[]] => {
    const bundle = side === "reference" ? undefined : bundles[side];
    if (bundle) return [process.execPath, ...nodeFlags, ...profiling, bundle, name];
    if (reference === undefined) throw new Error(`there is nothing to run for ${side}`);
    return [reference[name], ...tuned];
  };
  const start = (side: Side, name: Program, flags: readonly string[]): Daemon => {
    const [program, ...first] = commandOf(side, name);
    return plane.instance.start(`${side}-${name}`, program, [...first, ...flags]);
  };
  return {
    start: (side) =>
      pairOf({
        controller: start(side, "snapshot-controller", shared),
        sidecar: start(side, "csi-snapshotter", beside),
      }),
  };
}

type Program = "snapshot-controller" | "csi-snapshotter";

function bundleIn(folder: string): string {
  const bundle = join(folder, "snapkeep.js");
  if (!existsSync(bundle)) throw new Error(`there is no ${bundle}; make it with: npm run build -- ${folder}`);
  return bundle;
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
