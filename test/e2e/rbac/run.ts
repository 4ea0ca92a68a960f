/** `npm run rbac`: takes every right away from its component, one at a time, and tells which check fails then. */
import { parseArgs } from "node:util";
import { mustRun, type Parsed } from "../../flags.ts";
import { say } from "../harness/progress.ts";
import { toolProblem } from "../harness/tools.ts";

const usage = `npm run rbac [-- flags]

Runs every component on a real control plane with the rights of its manifests, and then again and again with one of them taken
away: one verb on one resource. Each time a check must fail, else nobody needs the right.

  --only TEXT         only rights whose line contains this
  -h, --help          this text

Exit code: 0 when each right is needed and all of them are enough, 1 when not, 2 when a flag is wrong.
The programs are built once from pinned Go modules (Go 1.26 or newer), or taken from KUBEBUILDER_ASSETS. The shared-resource driver
mounts volumes: that needs root on Linux.
`;

interface Options {
  readonly only: string;
}

function parseOptions(args: readonly string[]): Parsed<Options> {
  try {
    const options = { only: { type: "string" }, help: { type: "boolean", short: "h" } } as const;
    const { values } = parseArgs({ args: [...args], options });
    if (values.help === true) return { kind: "help" };
    return { kind: "run", options: { only: values.only ?? "" }, output: "text" };
  } catch (reason) {
    return { kind: "wrong", why: (reason as Error).message };
  }
}

const { options } = mustRun(parseOptions(process.argv.slice(2)), "npm run rbac", usage);
const problem = await toolProblem();
if (problem !== undefined) {
  say(problem);
  process.exit(1);
}
const { playAll } = await import("./play-all.ts");
const { printed, isProven } = await import("./report.ts");
const outcomes = await playAll(options.only);
process.stdout.write(`${printed(outcomes)}\n`);
process.exit(outcomes.every(isProven) ? 0 : 1);
