/** `npm run odd-drivers`: every row of the table with ours and with the Go pair, each on a control plane of its own. */
import { parseArgs } from "node:util";
import { mustRun, type Parsed } from "../../flags.ts";
import { say } from "../harness/progress.ts";
import { toolProblem } from "../harness/tools.ts";

const usage = `npm run odd-drivers [-- flags]

Plays every behaviour of the table (test/e2e/odd-drivers/rows) with our snapshot-controller and csi-snapshotter, and then with the
Go ones, on a real control plane each, and tells which of them ends as it must: is the snapshot ready, does it go when it is
deleted, what is left in the driver's storage, does the claim go.

  --only TEXT         only rows whose description contains this
  --at-once N         so many rows at once (default 16)
  -h, --help          this text

Exit code: 0 when ours is nowhere worse than the Go pair, 1 when it is, 2 when a flag is wrong.
The programs are built once from pinned Go modules (Go 1.26 or newer), or taken from KUBEBUILDER_ASSETS.
`;

interface Options {
  readonly only: string;
  readonly atOnce: number;
}

function parseOptions(args: readonly string[]): Parsed<Options> {
  try {
    const options = {
      only: { type: "string" },
      "at-once": { type: "string" },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    if (values.help === true) return { kind: "help" };
    const atOnce = values["at-once"] ?? "16";
    if (!/^[1-9]\d*$/.test(atOnce)) throw new Error(`--at-once ${atOnce}: it is a whole number above zero`);
    return { kind: "run", options: { only: values.only ?? "", atOnce: Number(atOnce) }, output: "text" };
  } catch (reason) {
    return { kind: "wrong", why: (reason as Error).message };
  }
}

const { options } = mustRun(parseOptions(process.argv.slice(2)), "npm run odd-drivers", usage);
const problem = await toolProblem();
if (problem !== undefined) {
  say(problem);
  process.exit(1);
}
const { rows } = await import("./rows.ts");
const { ours } = await import("./harness.ts");
const { goPair } = await import("./go-pair.ts");
const { playAll } = await import("./play-all.ts");
const { judged, printed } = await import("./verdict.ts");
const chosen = rows.filter(({ driver }) => driver.includes(options.only));
if (chosen.length === 0) {
  say(`no row contains ${JSON.stringify(options.only)}`);
  process.exit(2);
}
const [own, theirs] = [
  await playAll("ours", ours, chosen, options.atOnce),
  await playAll("the Go pair", goPair, chosen, options.atOnce),
];
const verdicts = chosen.map((row, index) => judged(row, own[index] as never, theirs[index] as never));
process.stdout.write(`${printed(verdicts)}\n`);
process.exit(verdicts.some(({ worse }) => worse.length > 0) ? 1 : 0);
