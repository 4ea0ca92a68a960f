/** The programs that are compared, ours and the Go ones, as processes on one control plane. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ControlPlane } from "../../test/e2e/harness/control-plane.ts";
import type { Daemon } from "../../test/e2e/harness/instance.ts";
import { tools } from "../../test/e2e/harness/tools.ts";
import { pssMibOf, type Usage, usageOf } from "./usage.ts";

/** "against": another bundle of ours. */
export type Side = "snapkeep" | "reference" | "against";

export interface Running<Part extends string> {
  usage(): Readonly<Record<Part, Usage>>;
  pssMib(): Readonly<Record<Part, number>>;
  stop(): Promise<void>;
}

export interface Sides<Part extends string> {
  start(side: Side): Running<Part>;
}

type Program = "snapshot-controller" | "csi-snapshotter" | "csi-provisioner";

/** What runs on each side, with the flags that both makers understand. */
export type Programs<Part extends string> = Readonly<
  Record<Part, { readonly program: Program; readonly flags: readonly string[] }>
>;

/** As docs/guides/replacing-upstream.md advises: a young generation that fits what is really young. */
const nodeFlags = ["--max-semi-space-size=4"];
const root = resolve(import.meta.dirname, "../..");
/** Upstream's defaults are 5 and 10: with them there would be nothing to measure. Worker threads stay as they are. */
const tuned = ["--kube-api-qps=5000", "--kube-api-burst=5000"];

interface SideOptions<Part extends string> {
  readonly plane: ControlPlane;
  readonly programs: Programs<Part>;
  /** Where to leave a processor profile of each of our processes, if anywhere. */
  readonly profiles?: string | undefined;
  /** The folder of another bundle of ours. */
  readonly against?: string | undefined;
}

export async function createSides<Part extends string>(options: SideOptions<Part>): Promise<Sides<Part>> {
  const { plane, programs, profiles, against } = options;
  const rows = Object.entries(programs) as [Part, Programs<Part>[Part]][];
  const reference = against === undefined ? await tools(...rows.map(([, { program }]) => program)) : undefined;
  // As released: the bundle. From sources, type stripping alone holds tens of megabytes.
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "ignore" });
  const bundles = { snapkeep: bundleIn(join(root, "dist")), against: against && bundleIn(resolve(against)) };
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const commandOf = (side: Side, name: Program): readonly [program: string, ...flags: string[]] => {
    const bundle = side === "reference" ? undefined : bundles[side];
    if (bundle) return [process.execPath, ...nodeFlags, ...profiling, bundle, name];
    const program = reference?.[name];
    if (program === undefined) throw new Error(`there is nothing to run for ${side}`);
    return [program, ...tuned];
  };
  const start = (side: Side, { program: name, flags }: Programs<Part>[Part]): Daemon => {
    const [program, ...first] = commandOf(side, name);
    return plane.instance.start(`${side}-${name}`, program, [...first, `--kubeconfig=${plane.kubeconfig}`, ...flags]);
  };
  return { start: (side) => runningOf(rows.map(([part, row]) => [part, start(side, row)] as const)) };
}

function bundleIn(folder: string): string {
  const bundle = join(folder, "snapkeep.js");
  if (!existsSync(bundle)) throw new Error(`there is no ${bundle}; make it with: npm run build -- ${folder}`);
  return bundle;
}

function runningOf<Part extends string>(daemons: readonly (readonly [Part, Daemon])[]): Running<Part> {
  const each = <T>(figure: (pid: number) => T): Record<Part, T> =>
    Object.fromEntries(
      daemons.map(([part, daemon]) => {
        if (!daemon.running()) throw new Error(`the ${part} ended:\n${daemon.lastWords()}`);
        return [part, figure(daemon.pid)];
      }),
    ) as Record<Part, T>;
  return {
    usage: () => each(usageOf),
    pssMib: () => each(pssMibOf),
    stop: async () => {
      await Promise.all(daemons.map(([, daemon]) => daemon.stop()));
    },
  };
}
