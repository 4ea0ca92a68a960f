/** `npm run chaos`: real processes on the real control plane, under load and faults. See options.ts, or --help. */
import { mustRun } from "../../flags.ts";
import { say } from "../harness/progress.ts";
import { toolProblem } from "../harness/tools.ts";
import { parseOptions, usage } from "./options.ts";

const { options, output } = mustRun(parseOptions(process.argv.slice(2)), "npm run chaos", usage);
const problem = await toolProblem();
if (problem !== undefined) {
  say(problem);
  process.exit(1);
}
const startedAt = performance.now();
const { runChaos } = await import("./campaign.ts");
const { isComplete, printed } = await import("./report.ts");
const result = await runChaos(options, (line) =>
  say(`${Math.round((performance.now() - startedAt) / 1_000)} s: ${line}`),
);
process.stdout.write(`${output === "json" ? JSON.stringify(result, undefined, 2) : printed(result)}\n`);
process.exit(result.violations.length === 0 && isComplete(result) ? 0 : 1);
